import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { HttpError } from '#shared/http/answer.ts';
import { type Forwarded, settled, testCache } from './cache.fixture.ts';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'Date'] });
});
afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

const FRESH = { 'Cache-Control': 'max-age=60' };

/** Sends several equal requests at once. */
async function together(of: ReturnType<typeof testCache>, count: number, headers = {}) {
  const clients = Array.from({ length: count }, () => of.ask('GET', '/a', headers));
  await settled();
  return clients;
}

function first({ asked }: { readonly asked: Forwarded[] }): Forwarded {
  const [one] = asked.splice(0, 1);
  if (one === undefined) throw new Error('the application was not asked');
  return one;
}

const write = ({ sink }: Forwarded, text: string) => sink.write(Buffer.from(text));
const texts = (clients: readonly { text: () => Promise<string | undefined> }[]) =>
  Promise.all(clients.map(({ text }) => text()));

test('a hundred requests for one key ask the application once, and read the answer as it comes', async () => {
  const of = testCache();
  const clients = await together(of, 100);
  expect(of.asked).toHaveLength(1);
  const one = first(of);
  one.head(200, { ...FRESH, 'Content-Length': '4' });
  write(one, 'ab');
  const [early] = clients;
  const answer = await early?.answered;
  expect(answer).toMatchObject({ status: 200 });
  const all = texts(clients);
  await settled();
  write(one, 'cd');
  one.sink.end([]);
  expect(new Set(await all)).toEqual(new Set(['abcd']));
  await settled();
  expect(await of.ask().text()).toBe('abcd');
  expect(of.asked).toHaveLength(0);
});

test.each(['before the head', 'in the middle'])(
  'waiting clients get the whole answer if the first client leaves %s',
  async (when) => {
    const of = testCache();
    const [leader, ...others] = await together(of, 4);
    const one = first(of);
    if (when === 'before the head') leader?.exchange.close();
    await settled();
    one.head(200, FRESH);
    write(one, 'ab');
    const all = texts(others);
    await settled();
    leader?.exchange.close();
    await settled();
    expect(one.closed).toBe(false);
    write(one, 'cd');
    one.sink.end([]);
    expect(await all).toEqual(['abcd', 'abcd', 'abcd']);
    expect(of.asked).toHaveLength(0);
  },
);

test.each([
  ['before the head', {}, true],
  ['in the middle', {}, true],
  ['in the middle of what is long', { 'Content-Length': '1048577' }, true],
  ['in the middle of what is short', { 'Content-Length': '4' }, false],
])(
  'if all clients leave %s, the request to the application ends unless little is missing',
  async (when, more, ends) => {
    const of = testCache(8 * 1024 * 1024);
    const clients = await together(of, 3);
    const one = first(of);
    if (when !== 'before the head') {
      one.head(200, { ...FRESH, ...more });
      write(one, 'ab');
      await clients[0]?.answered;
    }
    for (const { exchange } of clients) exchange.close();
    await settled();
    expect(one.closed).toBe(ends);
    if (ends) one.sink.breakOff();
    await settled();
    expect(of.asked.filter(({ closed }) => !closed)).toEqual([]);
    if (ends) return;
    write(one, 'cd');
    one.sink.end([]);
    await settled();
    expect(await of.ask().text()).toBe('abcd');
  },
);

test('a client that arrives in the same turn of the event loop in which the last one leaves gets an answer', async () => {
  const of = testCache();
  const [leader] = await together(of, 1);
  const one = first(of);
  leader?.exchange.close();
  const next = of.ask();
  await settled();
  const open = one.closed ? first(of) : one;
  open.head(200, FRESH);
  open.sink.end([]);
  expect(await next.answered).toMatchObject({ status: 200 });
});

test('after an answer that cannot be shared, waiting requests are sent at once, and later ones do not wait', async () => {
  const of = testCache();
  const clients = await together(of, 10);
  const one = first(of);
  one.head(200, { 'Cache-Control': 'no-store' });
  await settled();
  expect(of.asked).toHaveLength(9);
  await together(of, 5);
  expect(of.asked).toHaveLength(14);
  one.sink.end([]);
  expect(await clients[0]?.answered).toBeUndefined();
  expect(clients[0]?.passed.told).toEqual(['begin 200', 'end']);
  of.clock.advance(5);
  of.asked.length = 0;
  await together(of, 5);
  expect(of.asked).toHaveLength(1);
  first(of).head(200, { 'Cache-Control': 'no-store' });
  await settled();
});

test('a request with its own conditions does not stop later requests from sharing one answer', async () => {
  const of = testCache();
  of.ask('GET', '/a', { 'If-None-Match': '"a"' });
  await settled();
  first(of).head(304);
  await settled();
  await together(of, 5);
  expect(of.asked).toHaveLength(1);
  const one = first(of);
  one.head(200, FRESH);
  one.sink.end([]);
  await settled();
});

test('a request waits at most five seconds for the answer to another request', async () => {
  const of = testCache();
  const [, follower] = await together(of, 2);
  const one = first(of);
  jest.advanceTimersByTime(4999);
  await settled();
  expect(of.asked).toHaveLength(0);
  jest.advanceTimersByTime(1);
  await settled();
  const own = first(of);
  own.head(200, FRESH);
  write(own, 'own');
  own.sink.end([]);
  expect(await follower?.text()).toBe('own');
  one.reject(new HttpError(504, 'late'));
  await settled();
});

test('a request waits at most five seconds for a shared answer of unknown length to be complete', async () => {
  const of = testCache();
  const [, follower] = await together(of, 2);
  const one = first(of);
  jest.advanceTimersByTime(3000);
  one.head(200, FRESH);
  write(one, 'ab');
  await settled();
  jest.advanceTimersByTime(1999);
  await settled();
  expect(of.asked).toHaveLength(0);
  jest.advanceTimersByTime(1);
  await settled();
  const own = first(of);
  own.head(200, FRESH);
  write(own, 'own');
  own.sink.end([]);
  expect(await follower?.text()).toBe('own');
  one.sink.breakOff();
  await settled();
});

test("waiting clients share an error of the application, but not an error of the first client's connection", async () => {
  const of = testCache();
  const failed = await together(of, 3);
  first(of).reject(new HttpError(502, 'broken'));
  for (const { answered } of failed) await expect(answered).rejects.toMatchObject({ status: 502 });

  for (const reason of [new HttpError(503, 'no place'), new Error('left')]) {
    const [leader, follower] = await together(of, 2);
    first(of).reject(reason);
    await expect(leader?.answered).rejects.toBe(reason);
    await settled();
    const own = first(of);
    own.head(200, { 'Cache-Control': 'max-age=0, no-store' });
    own.sink.end([]);
    expect(await follower?.answered).toBeUndefined();
    of.clock.advance(5);
  }
});

test('the request for an answer that is not kept ends when no client reads it', async () => {
  const of = testCache(16 * 1024);
  const [client] = await together(of, 1);
  const one = first(of);
  one.head(200, { ...FRESH });
  await client?.answered;
  one.sink.write(Buffer.alloc(10_000));
  client?.exchange.close();
  await settled();
  expect(one.closed).toBe(true);
});

test('an answer that breaks off is an error for each reader, and is not stored', async () => {
  const of = testCache();
  const clients = await together(of, 3);
  const one = first(of);
  one.head(200, { ...FRESH, 'Content-Length': '4' });
  write(one, 'ab');
  const all = Promise.allSettled(clients.map(({ text }) => text()));
  await settled();
  one.sink.breakOff();
  expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(of.store.stats()).toEqual({ entries: 0, octets: expect.any(Number) });
  for (const { exchange } of clients) exchange.close();
  await settled();
  expect(of.store.stats()).toEqual({ entries: 0, octets: 0 });
});

test('an answer that is invalidated on its way goes only to the clients that already waited', async () => {
  const of = testCache();
  const before = await together(of, 3);
  const one = first(of);
  of.cache.forget({ kind: 'target', value: '/a' });
  const [after] = await together(of, 1);
  const other = first(of);
  one.head(200, FRESH);
  write(one, 'old');
  one.sink.end([]);
  expect(await texts(before)).toEqual(['old', 'old', 'old']);
  await settled();
  expect(of.store.stats().entries).toBe(0);
  other.head(200, FRESH);
  write(other, 'new');
  other.sink.end([]);
  expect(await after?.text()).toBe('new');
  await settled();
  expect(await of.ask().text()).toBe('new');
});

/** Stores a stale answer. */
async function stale(of: ReturnType<typeof testCache>, control: string) {
  of.ask();
  await settled();
  const one = first(of);
  one.head(200, { 'Cache-Control': control, ETag: '"a"' });
  write(one, 'stale');
  one.sink.end([]);
  await settled();
  of.clock.advance(10);
}

test('all requests that wait for a validation get the stored answer if the application gives none (RFC 5861 section 4)', async () => {
  const of = testCache();
  await stale(of, 'max-age=1, stale-if-error=60');
  const clients = await together(of, 3);
  const one = first(of);
  expect(of.asked).toHaveLength(0);
  expect(one.lines).toContainEqual(['If-None-Match', '"a"']);
  one.reject(new HttpError(504, 'late'));
  expect(await texts(clients)).toEqual(['stale', 'stale', 'stale']);
});

test('a client that does not allow stale answers on errors gets the error, although another client allows them', async () => {
  const of = testCache();
  await stale(of, 'max-age=1');
  const allows = of.ask('GET', '/a', { 'Cache-Control': 'stale-if-error=60' });
  const [other] = await together(of, 1);
  first(of).head(500);
  expect(await allows.text()).toBe('stale');
  await settled();
  const own = first(of);
  own.head(500);
  own.sink.end([]);
  expect(await other?.answered).toBeUndefined();
  expect(other?.passed.told[0]).toBe('begin 500');
});

test('one validation answers all waiting requests (RFC 9111 section 4.3)', async () => {
  const of = testCache();
  await stale(of, 'max-age=1');
  const clients = await together(of, 10);
  const one = first(of);
  expect(of.asked).toHaveLength(0);
  one.head(304, { ETag: '"a"', 'Cache-Control': 'max-age=60' });
  one.sink.end([]);
  expect(new Set(await texts(clients))).toEqual(new Set(['stale']));
  expect(await of.ask().text()).toBe('stale');
});

test('after a 304 with an unknown tag, the cache asks again without conditions', async () => {
  const of = testCache();
  await stale(of, 'max-age=1');
  const [client] = await together(of, 1);
  const one = first(of);
  one.head(304, { ETag: '"other"' });
  one.sink.end([]);
  await settled();
  const again = first(of);
  expect(again.lines).toEqual([]);
  again.head(200, FRESH);
  write(again, 'new');
  again.sink.end([]);
  expect(await client?.text()).toBe('new');
});

test('a stale answer is refreshed in the background, once (RFC 5861 section 3)', async () => {
  const of = testCache();
  await stale(of, 'max-age=1, stale-while-revalidate=60');
  const clients = await together(of, 10);
  expect(await texts(clients)).toEqual(Array(10).fill('stale'));
  for (const { exchange } of clients) exchange.close();
  await settled();
  const one = first(of);
  expect(of.asked).toHaveLength(0);
  expect(one.closed).toBe(false);
  one.head(200, FRESH);
  write(one, 'new');
  one.sink.end([]);
  await settled();
  expect(one.closed).toBe(true);
  expect(await of.ask().text()).toBe('new');
});

test('after a refresh that fails or is not stored, the next refresh waits five seconds', async () => {
  const of = testCache();
  await stale(of, 'max-age=1, stale-while-revalidate=60');
  expect(await of.ask().text()).toBe('stale');
  first(of).reject(new HttpError(502, 'broken'));
  for (let second = 0; second < 5; second += 1) {
    await settled();
    expect(await of.ask().text()).toBe('stale');
    expect(of.asked).toEqual([]);
    of.clock.advance(1);
  }
  expect(await of.ask().text()).toBe('stale');
  const one = first(of);
  one.head(500);
  await settled();
  expect(one.closed).toBe(true);
  expect(await of.ask().text()).toBe('stale');
  expect(of.asked).toEqual([]);
});

test.each([
  ['stored', 200],
  ['validated', 304],
])('a refresh whose answer was %s does not delay the next refresh', async (_how, status) => {
  const of = testCache();
  const briefly = { 'Cache-Control': 'max-age=1, stale-while-revalidate=60', ETag: '"a"' };
  await stale(of, briefly['Cache-Control']);
  for (let time = 0; time < 3; time += 1) {
    expect(await of.ask().text()).toBe('stale');
    const one = first(of);
    one.head(status, briefly);
    if (status === 200) write(one, 'stale');
    one.sink.end([]);
    await settled();
    of.clock.advance(2);
  }
});

test('clients get the answer although the store cannot keep it', async () => {
  const of = testCache();
  const begin = of.store.begin.bind(of.store);
  jest.spyOn(of.store, 'begin').mockImplementation((stored) => {
    const writing = begin(stored);
    if (writing) writing.commit = () => Promise.reject(new Error('disk'));
    return writing;
  });
  const clients = await together(of, 2);
  const one = first(of);
  one.head(200, FRESH);
  write(one, 'ab');
  one.sink.end([]);
  expect(await texts(clients)).toEqual(['ab', 'ab']);
  for (const { exchange } of clients) exchange.close();
  await settled();
  expect(of.store.stats()).toEqual({ entries: 0, octets: 0 });
});

test('ten thousand misses, half of them aborted, leave no stored octets and no listeners', async () => {
  const of = testCache();
  const warned = jest.fn();
  process.on('warning', warned);
  for (let round = 0; round < 100; round += 1) {
    const clients = Array.from({ length: 100 }, (_, at) => of.ask('GET', `/${round}/${at % 50}`));
    await settled();
    for (const [at, { exchange }] of clients.entries()) if (at % 50 < 25) exchange.close();
    await settled();
    for (const one of of.asked.splice(0)) {
      if (one.closed) continue;
      one.head(200, { 'Cache-Control': 'max-age=0', ETag: '"a"' });
      one.sink.end([]);
    }
    await settled();
    for (const one of of.asked.splice(0)) {
      one.head(200, { 'Cache-Control': 'no-store' });
      one.sink.end([]);
    }
    for (const { exchange } of clients) exchange.close();
    await settled();
    for (const { exchange } of clients) expect(exchange.listenerCount('close')).toBe(0);
    of.cache.clear();
  }
  process.off('warning', warned);
  expect(warned).not.toHaveBeenCalled();
  expect(of.store.stats()).toEqual({ entries: 0, octets: 0 });
});
