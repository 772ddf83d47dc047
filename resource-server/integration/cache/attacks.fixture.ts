import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Application, startApplication, startGateway } from '../gateway.fixture.ts';
import { ask, type Call } from '#shared/server/wire/ask.fixture.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * An application behind the caches of some spaces. It counts its requests, and dates its answers by the test's clock.
 */
export function attacked(
  spaces: Readonly<
    Record<string, { readonly upstream?: object; readonly [member: string]: unknown }>
  >,
  changes: object = {},
) {
  let application: Application;
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  let answer: Answer = () => {};
  const told: IncomingMessage[] = [];

  beforeAll(async () => {
    application = await startApplication((request, response) => {
      told.push(request);
      response.setHeader('Date', new Date(gateway.clock.now()).toUTCString());
      answer(request, response);
    });
    const upstream = { url: application.url, identity: ['fields'] };
    const all = Object.entries(spaces).map(([name, more]) => [
      name,
      { schemes: [], scopes: {}, cache: {}, ...more, upstream: { ...upstream, ...more.upstream } },
    ]);
    gateway = await startGateway(Object.fromEntries(all), changes);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await application[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    told.length = 0;
  });

  return {
    told,
    get gateway() {
      return gateway;
    },
    /** Sets the application's answers from now on. */
    answers(fields: Readonly<Record<string, string>>, body: (request: IncomingMessage) => string) {
      answer = (request, response) => {
        for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
        response.end(body(request));
      };
    },
    does(what: Answer) {
      answer = what;
    },
    ask: (method: string, path: string, call?: Call) =>
      ask(gateway.listening.port, method, path, call),
    get: (path: string, headers: Readonly<Record<string, string>> = {}) =>
      ask(gateway.listening.port, 'GET', path, { headers }),
  };
}
