import { Pool } from 'undici';
import { closedLoop } from './closed-loop.ts';
import type { Server } from './cpu.ts';
import type { Contender } from './measure.ts';
import type { HttpRequest } from './requests.ts';

/** A request with binary content. */
export interface OctetRequest extends Omit<HttpRequest, 'body'> {
  readonly body?: Buffer;
}

export interface OctetAnswer {
  readonly status: number;
  readonly content: Buffer;
}

type Next = () => OctetRequest | undefined;
type Judge = (answer: OctetAnswer) => boolean;

/** A request, and the check of its answer. */
export type Probe = readonly [request: OctetRequest, isRight: Judge];

/** A server with its own answer to each request. */
export interface PoolContender {
  readonly name: string;
  readonly server: Server;
  /** Requests that are sent once, in this order. */
  readonly probes: readonly Probe[];
  /**
   * Prepares this many seconds of load; returns a function for the next request, or undefined at the end.
   */
  prepare(seconds: number): Next | Promise<Next>;
  /** The check of every answer to these requests. */
  isRight: Judge;
}

/**
 * Loads the server over HTTP/1.1 on this many connections, from this process. Waits for all requests at the
 * end, so that a slow server does not disturb the next one.
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
