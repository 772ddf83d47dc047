import { closedLoop } from './closed-loop.ts';
import type { BoundConnection } from '../clients/concealed/over-tls.ts';
import { overTls1 } from '../clients/concealed/over-tls.ts';
import type { HttpRequest } from '../clients/digest/exchange.ts';
import type { Server } from './cpu.ts';
import type { Contender } from './measure.ts';

/** A server that is asked over TLS, with what depends on the connection. */
export interface BoundContender {
  readonly name: string;
  readonly server: Server;
  /** Asked once for each connection; what it gives makes what is sent on that. */
  requestsOn(connection: BoundConnection): Promise<() => HttpRequest>;
  readonly status: number;
}

/** Loads it over HTTP/1.1 and TLS 1.3 on that many connections, which are open before it is measured. */
export function overBound(contender: BoundContender, connections: number): Contender {
  const { name, server, requestsOn, status } = contender;
  const { hostname, port } = new URL(server.url);
  const open = () => overTls1(hostname, Number(port), { rejectUnauthorized: false });

  /** What asks once. */
  async function asker() {
    const connection = await open();
    const next = await requestsOn(connection);
    const ask = async () => {
      const answer = await connection.send(next());
      if (answer.status !== status) throw new Error(`${name} answered ${answer.status}`);
    };
    return { ask, connection };
  }

  return {
    name,
    server,
    async probe() {
      const { ask, connection } = await asker();
      await using _ = connection;
      await ask();
    },
    prepare: async (seconds) => async () => {
      const all = await Promise.all(Array.from({ length: connections }, asker));
      const free = [...all];
      const done = await closedLoop(
        async () => {
          const one = free.pop();
          if (one === undefined) throw new RangeError('there are no connections');
          await one.ask().finally(() => free.push(one));
        },
        connections,
        seconds,
      );
      for (const { connection } of all) await connection[Symbol.asyncDispose]();
      return done;
    },
  };
}
