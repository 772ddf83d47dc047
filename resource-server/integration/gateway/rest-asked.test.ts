import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Application, startApplication, startGateway } from '../gateway.fixture.ts';

/** Two instances: the first is about to be drained, and announces it by a 503. */
let leaving: Application;
let staying: Application;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let says: RequestListener;
let times = 0;
beforeAll(async () => {
  leaving = await startApplication((request, response) => {
    times += 1;
    return says(request, response);
  });
  staying = await startApplication((_, response) => void response.end('stays'));
  const urls = [leaving.url, staying.url];
  gateway = await startGateway({
    two: { upstream: { urls }, schemes: [], scopes: {} },
    one: { upstream: { url: leaving.url }, schemes: [], scopes: {} },
  });
});
afterAll(async () => {
  for (const one of [gateway, leaving, staying]) await one[Symbol.asyncDispose]();
});
beforeEach(() => {
  gateway.clock.advance(61);
  times = 0;
});

const saying =
  (status: number, fields: Readonly<Record<string, string>> = {}): RequestListener =>
  (_, response) =>
    void response.writeHead(status, fields).end('leaves');
const LEAVES = { 'Retry-After': '30' };

/** Sends four requests. Returns which instances answered, and with which statuses. */
async function four(method = 'GET', call = {}, space = 'two'): Promise<string[]> {
  const answers = [];
  for (let n = 0; n < 4; n += 1) {
    const { status, text } = await gateway.ask(method, `/${space}/x`, call);
    answers.push(`${status} ${text}`);
  }
  return answers.toSorted();
}

const STAYS = '200 stays';

describe('RFC 9110 section 10.2.3: an instance that answers 503 with Retry-After', () => {
  test.each([
    ['over undici', 'GET', {}],
    ['over node:http', 'GET', { headers: { TE: 'trailers' } }],
    ['for PUT without content', 'PUT', {}],
  ])(
    'a drained instance gets no further requests, and clients do not notice: %s',
    async (_, method, call) => {
      says = saying(503, LEAVES);
      expect(await four(method, call)).toEqual([STAYS, STAYS, STAYS, STAYS]);
      expect(times).toBe(1);
    },
  );

  test.each([
    ['what may not be done twice', 'POST', {}],
    ['what has content', 'PUT', { body: 'x' }],
  ])(
    'a drained instance gives its 503 to the client of %s, and to no other client',
    async (_, method, call) => {
      says = saying(503, LEAVES);
      expect(await four(method, call)).toEqual([STAYS, STAYS, STAYS, '503 leaves']);
    },
  );

  test('a drained instance gets requests again after the seconds of Retry-After', async () => {
    says = saying(503, LEAVES);
    await four();
    gateway.clock.advance(29);
    await four();
    expect(times).toBe(1);
    gateway.clock.advance(2);
    says = saying(200);
    expect(await four()).toContain('200 leaves');
  });

  test('a drained instance gets requests again at the date of Retry-After', async () => {
    const at = new Date(gateway.clock.now() + 30_000).toUTCString();
    says = saying(503, { 'Retry-After': at });
    expect(await four()).toEqual([STAYS, STAYS, STAYS, STAYS]);
    expect(times).toBe(1);
  });

  test('a drained instance gets requests again after a minute at the latest', async () => {
    says = saying(503, { 'Retry-After': '86400' });
    await four();
    gateway.clock.advance(61);
    await four();
    expect(times).toBe(2);
  });

  test('a drained instance finishes its requests, whose success does not bring new requests', async () => {
    const begun = Promise.withResolvers<() => void>();
    says = (_, response) => begun.resolve(() => void response.end('leaves late'));
    const all = [gateway.ask('GET', '/two/x'), gateway.ask('GET', '/two/x')];
    const end = await begun.promise;
    says = saying(503, LEAVES);
    // Concurrent requests are needed, since the other instance is less busy.
    // oxlint-disable-next-line no-unmodified-loop-condition -- the application's answer changes it
    while (times < 2) await Promise.all([four(), four(), four()]);
    end();
    const texts = await Promise.all(all.map(async (one) => (await one).text));
    expect(texts.toSorted()).toEqual(['leaves late', 'stays']);
    await four();
    expect(times).toBe(2);
  });

  test('clients get the 503 of an instance if all instances are drained, or if it is the only one', async () => {
    says = saying(503, LEAVES);
    expect(new Set(await four('GET', {}, 'one'))).toEqual(new Set(['503 leaves']));
  });
});

test.each([
  [503, {}],
  [503, { 'Retry-After': 'soon' }],
  [503, { 'Retry-After': '0' }],
  [429, LEAVES],
  [500, LEAVES],
])('status %i with %j is passed on like any other answer', async (status, fields) => {
  says = saying(status, fields);
  expect(await four()).toEqual([STAYS, STAYS, `${status} leaves`, `${status} leaves`]);
});
