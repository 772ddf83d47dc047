import { expect, jest, test } from '@jest/globals';
import { HttpError } from '#shared/http/answer.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type Forwarded, settled, testCache } from './cache.fixture.ts';
import type { CacheParts } from './parts.ts';
import type { Forgotten } from './rules/invalidating.ts';

const unavailable = () => Promise.reject(new StoreUnavailable('no'));
const TARGET = { kind: 'target', value: '/a' };

function first({ asked }: { readonly asked: Forwarded[] }): Forwarded {
  const [one] = asked.splice(0, 1);
  if (one === undefined) throw new Error('the application was not asked');
  return one;
}

/** A cache that has an answer at `/a`, and a mock that records its invalidations. */
async function filled(changes: Partial<CacheParts> = {}) {
  const told = jest.fn(async (_all: readonly Forgotten[]) => {});
  const of = testCache(undefined, { invalidate: told, ...changes });
  of.ask();
  await settled();
  const one = first(of);
  one.head(200, { 'Cache-Control': 'max-age=60' });
  one.sink.write(Buffer.from('before'));
  one.sink.end([]);
  await settled();
  return { ...of, told };
}

test('a PUT is answered only after its invalidation is acknowledged (RFC 9111 section 4.4)', async () => {
  const telling = Promise.withResolvers<void>();
  const of = await filled({ invalidate: () => telling.promise });
  const put = of.ask('PUT');
  await settled();
  const one = first(of);
  one.head(204);
  one.sink.end([]);
  await settled();
  expect(put.passed.told).toEqual([]);
  telling.resolve();
  expect(await put.answered).toBeUndefined();
  expect(put.passed.told).toEqual(['begin 204', 'end']);
});

test('a PUT is not sent to the application if the store cannot be written', async () => {
  const of = await filled({ writable: unavailable });
  await expect(of.ask('PUT').answered).rejects.toBeInstanceOf(StoreUnavailable);
  expect(of.asked).toEqual([]);
});

test('a PUT whose invalidation cannot be written is answered 502, and this cache removes the entry', async () => {
  const of = await filled({ invalidate: unavailable });
  const put = of.ask('PUT');
  await settled();
  const one = first(of);
  one.head(204);
  one.sink.end([]);
  await expect(put.answered).rejects.toMatchObject({ status: 502 });
  expect(put.passed.told).toEqual([]);
  expect(of.store.stats().entries).toBe(0);
});

test.each([
  ['no answer', 502, 1],
  ['none in time', 504, 1],
  ['no free connection', 503, 0],
  ['a loop', 508, 0],
])('after %s (%i) a PUT writes this number of invalidations: %i', async (_why, status, times) => {
  const of = await filled();
  const put = of.ask('PUT');
  await settled();
  first(of).reject(new HttpError(status, 'no'));
  await expect(put.answered).rejects.toMatchObject({ status });
  expect(of.told).toHaveBeenCalledTimes(times);
  if (times > 0) expect(of.told).toHaveBeenCalledWith([expect.objectContaining(TARGET)]);
});

test('a PUT whose client leaves before the answer still invalidates its target', async () => {
  const of = await filled();
  const put = of.ask('PUT');
  await settled();
  put.exchange.close();
  await expect(put.answered).rejects.toThrow('left');
  expect(of.told).toHaveBeenCalledWith([expect.objectContaining(TARGET)]);
});

test('a PUT whose answer the gateway refuses still invalidates its target', async () => {
  const of = await filled();
  const put = of.ask('PUT');
  await settled();
  first(of).head(200, { 'X-Refused': 'yes' });
  await expect(put.answered).rejects.toMatchObject({ status: 502 });
  expect(of.told).toHaveBeenCalledWith([expect.objectContaining(TARGET)]);
});

test('an error answer to a PUT writes no invalidation, and the stored answer stays', async () => {
  const of = await filled();
  const put = of.ask('PUT');
  await settled();
  const one = first(of);
  one.head(403);
  one.sink.end([]);
  expect(await put.answered).toBeUndefined();
  expect(of.told).not.toHaveBeenCalled();
  expect(await of.ask().text()).toBe('before');
});

const STORED = { 'Cache-Control': 'max-age=60', 'Content-Location': '/a' };

test('the answer to POST is stored for GET (RFC 9110 section 9.3.3)', async () => {
  const of = await filled();
  const post = of.ask('POST');
  await settled();
  const one = first(of);
  one.head(200, STORED);
  one.sink.write(Buffer.from('after'));
  one.sink.end([]);
  expect(await post.text()).toBe('after');
  await settled();
  expect(await of.ask().text()).toBe('after');
  expect(of.asked).toEqual([]);
});

test('a POST is answered but not stored if the feed cannot be read after it', async () => {
  let readable = true;
  const of = await filled({ feed: { latest: () => (readable ? undefined : unavailable()) } });
  const post = of.ask('POST');
  await settled();
  readable = false;
  const one = first(of);
  one.head(200, STORED);
  one.sink.write(Buffer.from('after'));
  one.sink.end([]);
  expect(await post.answered).toBeUndefined();
  expect(post.passed.told).toEqual(['begin 200', 'after', 'end']);
});

test('while the feed cannot be read, the cache passes every request on and stores nothing', async () => {
  let readable = true;
  const of = await filled({ feed: { latest: () => (readable ? undefined : unavailable()) } });
  readable = false;
  const clients = [of.ask(), of.ask()];
  await settled();
  for (const one of of.asked.splice(0)) {
    one.head(200, { 'Cache-Control': 'max-age=60' });
    one.sink.write(Buffer.from('passed'));
    one.sink.end([]);
  }
  for (const { answered, passed } of clients) {
    expect(await answered).toBeUndefined();
    expect(passed.told).toEqual(['begin 200', 'passed', 'end']);
  }
  readable = true;
  expect(await of.ask().text()).toBe('before');
});
