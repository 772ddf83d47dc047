import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { overHttp } from '../clients/digest/over-http.ts';
import { closedLoop } from './closed-loop.ts';
import type { Server } from './cpu.ts';
import type { Destination } from './destination.ts';
import type { Contender, Run } from './measure.ts';

const MIB = 1024 ** 2;

/** A proxy that opens tunnels for a known client. */
export interface TunnelContender {
  readonly name: string;
  readonly server: Server;
  /** Values of Proxy-Authorization: a valid value, and a value that must get 407. */
  readonly right: string;
  readonly wrong: string;
}

/** Opens and closes tunnels, this many at a time. Counts tunnels that delivered the destination's byte. */
export function tunnelSetUp(
  contender: TunnelContender,
  { greeting }: Destination,
  atOnce: number,
): Contender {
  const { name, server, right } = contender;

  async function visit(): Promise<void> {
    const tunnel = await open(server.url, greeting, right);
    const said = await buffer(tunnel);
    tunnel.destroy();
    if (said.length !== 1) throw new Error(`${name} brought ${said.length} bytes`);
  }

  return {
    name,
    server,
    probe: () => probe(contender, greeting),
    prepare: async (seconds) => () => closedLoop(visit, atOnce, seconds),
  };
}

/** Reads from this many tunnels at a time. Counts MiB. */
export function tunnelThroughput(
  contender: TunnelContender,
  { source }: Destination,
  atOnce: number,
): Contender {
  const { name, server, right } = contender;

  async function run(tunnels: readonly Duplex[], seconds: number): Promise<Run> {
    let bytes = 0;
    const began = performance.now();
    for (const tunnel of tunnels) {
      tunnel.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      tunnel.write('x');
    }
    await sleep(seconds * 1000);
    const took = (performance.now() - began) / 1000;
    const errors = tunnels.filter(({ destroyed, readableEnded }) => destroyed || readableEnded);
    for (const tunnel of tunnels) tunnel.destroy();
    return { count: bytes / MIB, seconds: took, errors: errors.length };
  }

  return {
    name,
    server,
    probe: () => probe(contender, source),
    async prepare(seconds) {
      const opened = Array.from({ length: atOnce }, () => open(server.url, source, right));
      const tunnels = await Promise.all(opened);
      return () => run(tunnels, seconds);
    },
  };
}

/** Opens a tunnel (RFC 9110 section 9.3.6). Rejects with the status otherwise. */
async function open(proxy: string, target: string, credentials: string): Promise<Duplex> {
  const { hostname, port } = new URL(proxy);
  const { status, tunnel } = await overHttp({ host: hostname, port: Number(port) })({
    method: 'CONNECT',
    target,
    fields: [['Proxy-Authorization', credentials]],
    content: Buffer.alloc(0),
  });
  if (tunnel === undefined) throw new Error(`CONNECT ${target} was answered ${status}`);
  return tunnel.on('error', () => {}); // the caller checks whether the tunnel is destroyed
}

async function probe(contender: TunnelContender, target: string): Promise<void> {
  const { name, server, right, wrong } = contender;
  const tunnel = await open(server.url, target, right);
  tunnel.write('x');
  await once(tunnel, 'data');
  tunnel.destroy();
  const answer = await open(server.url, target, wrong).then(
    () => 'a tunnel',
    (error: unknown) => String(error),
  );
  if (!answer.endsWith(' 407')) throw new Error(`${name} gave ${answer} to what is forged`);
}
