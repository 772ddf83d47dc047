import { Pool } from 'undici';
import { closedLoop } from './closed-loop.ts';
import type { Server } from './cpu.ts';
import type { Contender } from './measure.ts';
import type { HttpRequest } from './requests.ts';

/** A request whose content is octets. */
export interface OctetRequest extends Omit<HttpRequest, 'body'> {
  readonly body?: Buffer;
}

export interface OctetAnswer {
  readonly status: number;
  readonly content: Buffer;
}

type Next = () => OctetRequest | undefined;
type Judge = (answer: OctetAnswer) => boolean;

/** The request, and the check of its answer. */
export type Probe = readonly [request: OctetRequest, isRight: Judge];

/** A server that answers each request in its own way. */
export interface PoolContender {
  readonly name: string;
  readonly server: Server;
  /** Sent once, in this order. */
  readonly probes: readonly Probe[];
  /** Prepares for so many seconds; what it returns gives the next request, undefined when there is none. */
  prepare(seconds: number): Next | Promise<Next>;
  /** The status of every answer to those. */
  isRight: Judge;
}

/**
 * Loads it over HTTP/1.1 on that many connections, from this process. What was begun is waited for, so
 * that nothing of a slow server is left for the next one to suffer.
 */
export function overPool(contender: PoolContender, connections: number): Contender {
  const { name, server, probes, isRight } = contender;
  const { ca } = server;
  const open = () => new Pool(server.url, { connections, ...(ca && { connect: { ca } }) });

  async function visit(pool: Pool, request: OctetRequest, judge: Judge): Promise<void> {
    const { method, path, fields: headers, body } = request;
    const answer = await pool.request({ method, path, headers, ...(body && { body }) });
    const content = Buffer.from(await answer.body.arrayBuffer());
    if (judge({ status: answer.statusCode, content })) return;
    throw new Error(`${name} answered ${answer.statusCode} ${content.toString('latin1')}`);
  }

  return {
    name,
    server,
    async probe() {
      await using stack = new AsyncDisposableStack();
      const pool = stack.adopt(open(), (opened) => opened.close());
      for (const [request, judge] of probes) await visit(pool, request, judge);
    },
    async prepare(seconds) {
      const next = await contender.prepare(seconds);
      return async () => {
        await using stack = new AsyncDisposableStack();
        const pool = stack.adopt(open(), (opened) => opened.close());
        const visitNext = () => {
          const request = next();
          return request && visit(pool, request, isRight);
        };
        return await closedLoop(visitNext, connections, seconds);
      };
    },
  };
}
