import { connect } from 'node:net';
import { OPENING } from '#shared/server/wire/http2-frames.fixture.ts';
import type { Pair, ServerProcess } from '../pair/pair.ts';
import { type Dice, dice } from './dice.ts';
import { fuzzedFrames, fuzzedRequest } from './fuzzed.ts';

export interface Fuzz {
  readonly seed: number;
  readonly requests: number;
  readonly frames: number;
  /** Called from time to time with the numbers sent so far. */
  readonly progress?: (requests: number, frames: number) => void;
}

export interface FuzzOutcome {
  /** How often each status came over HTTP/1.1. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly frames: number;
  /**
   * Requests of a well-behaved client during the run, and the time of its slowest request in milliseconds.
   */
  readonly served: number;
  readonly slowest: number;
}

/** Connections at a time. */
const WIDTH = 8;
/** Frames on one connection, unless the server closes it earlier. */
const FRAMES = 200;
/** Finds 5xx statuses that a malformed request must not get: all but 501 and 505. */
const RIGHT = /"status":5(?!01|05)/;

/**
 * Sends fuzzed requests and frames to both servers, while a well-behaved client asks for a document.
 * Rejects if that client is not served, or if a server logs an error or leaves a connection open.
 */
export async function fuzz(
  pair: Pair,
  { seed, requests, frames, progress }: Fuzz,
): Promise<FuzzOutcome> {
  const roll = dice(seed);
  const client = await pair.addClient();
  const token = await pair.token(client);
  const servers = [...pair.resources, ...pair.authz];
  const statuses: Record<number, number> = {};
  const sent = { requests: 0, frames: 0 };

  async function request(server: ServerProcess, address: string): Promise<void> {
    const text = fuzzedRequest(roll, `Bearer ${token}`);
    const received = await exchange(server, address, Buffer.from(text, 'latin1'));
    for (const [, status] of received.matchAll(/^HTTP\/1\.1 ([0-9]{3}) /gm)) {
      statuses[Number(status)] = (statuses[Number(status)] ?? 0) + 1;
    }
  }

  async function attack(part: 'requests' | 'frames', most: number): Promise<void> {
    while (sent[part] < most) {
      const nth = sent[part];
      const size = part === 'requests' ? 1 : FRAMES;
      sent[part] += size;
      const server = servers[Math.floor(nth / size) % servers.length];
      if (server === undefined) throw new RangeError('there is no server');
      const address = `127.0.0.${2 + (Math.floor(nth / size) % 200)}`; // each address has its own ports
      if (part === 'requests') await request(server, address);
      else await exchange(pair.resources[0] ?? server, address, framesOf(roll));
      if ((nth / size) % 1000 === 0) progress?.(sent.requests, sent.frames);
    }
  }
  const all = (part: 'requests' | 'frames', most: number) =>
    Promise.all(Array.from({ length: WIDTH }, () => attack(part, most)));

  const beside = wellBehaved(pair, token);
  await all('requests', requests);
  await all('frames', frames);
  const { served, slowest } = await beside.end();
  for (const { log } of servers) {
    const failed = log
      .split('\n')
      .find((line) => RIGHT.test(line) || line.includes('"level":"error"'));
    if (failed !== undefined) throw new Error(`seed ${seed}: ${failed}`);
  }
  return { statuses, frames: sent.frames, served, slowest };
}

function framesOf(roll: Dice): Buffer {
  const sent: Buffer[] = [OPENING];
  for (let count = 0; count < FRAMES;) {
    const frames = fuzzedFrames(roll);
    count += frames.length;
    sent.push(...frames);
  }
  return Buffer.concat(sent);
}

/**
 * Sends the bytes, ends the stream, and returns all that the server sends until it closes the connection.
 */
async function exchange(
  server: ServerProcess,
  localAddress: string,
  bytes: Buffer,
): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  let received = '';
  socket.on('error', () => {}); // a reset ends the exchange, too
  socket.on('data', (piece: Buffer) => {
    received += piece.toString('latin1');
  });
  socket.end(bytes);
  if (!socket.destroyed) await new Promise((resolve) => void socket.once('close', resolve));
  return received;
}

/** A client that asks for a document repeatedly until `end`. Each answer has to be 200. */
function wellBehaved(pair: Pair, token: string) {
  const over = new AbortController();
  let [served, slowest] = [0, 0];
  async function ask(): Promise<void> {
    while (!over.signal.aborted) {
      const start = performance.now();
      const status = await pair.get(token);
      if (status !== 200) throw new Error(`a well-behaved client got ${status}`);
      served += 1;
      slowest = Math.max(slowest, performance.now() - start);
    }
  }
  const asking = ask();
  asking.catch(() => {}); // `end` reports the error
  return {
    async end() {
      over.abort();
      await asking;
      return { served, slowest: Math.round(slowest) };
    },
  };
}
