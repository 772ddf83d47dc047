import { Agent, request as send } from 'undici';
import type { Contender } from './measure.ts';
import type { HttpRequest, Load } from './requests.ts';
import type { Server } from './cpu.ts';
import { wrk } from './wrk.ts';

/** A server that answers requests. */
export interface HttpContender {
  readonly name: string;
  readonly server: Server;
  readonly load: Load;
  /** The required answer to every request. */
  readonly answer: { readonly status: number; readonly body?: (text: string) => boolean };
  /** A request that must be refused. A public server has none. */
  forged?(): HttpRequest | Promise<HttpRequest>;
  /** The status of the refusal; default: 401. */
  readonly refusal?: number;
}

/** Loads the server by wrk, on this many connections. */
export function overWrk(contender: HttpContender, connections: number): Contender {
  const { name, server, load } = contender;
  return {
    name,
    server,
    probe: () => probe(contender),
    async prepare(seconds) {
      const requests = await load.take(seconds);
      return async () => {
        const done = await wrk({ url: server.url, requests, connections, seconds });
        load.sent(done.requests + connections);
        return {
          count: done.requests,
          seconds: done.microseconds / 1_000_000,
          latency: { p50: done.p50 / 1000, p99: done.p99 / 1000 },
          errors: done.errors,
        };
      };
    },
  };
}

/** Rejects if a valid or a forged request gets a wrong answer. */
export async function probe({
  name,
  server,
  load,
  answer,
  forged,
  refusal = 401,
}: HttpContender): Promise<void> {
  const [request] = await load.take(1);
  if (request === undefined) throw new Error(`${name} has nothing to answer`);
  load.sent(1);
  const good = await ask(server, request);
  if (good.status !== answer.status || answer.body?.(good.text) === false) {
    throw new Error(`${name} answered ${good.status} ${good.text}`);
  }
  if (forged === undefined) return;
  const bad = await ask(server, await forged());
  if (bad.status !== refusal) throw new Error(`${name} answered ${bad.status} to what is forged`);
}

async function ask({ url, ca }: Server, { method, path, fields: headers, body }: HttpRequest) {
  await using stack = new AsyncDisposableStack();
  const agent = new Agent(ca && { connect: { ca } });
  const dispatcher = stack.adopt(agent, (opened) => opened.close());
  const answer = await send(url + path, { dispatcher, method, headers, ...(body && { body }) });
  return { status: answer.statusCode, text: await answer.body.text() };
}
