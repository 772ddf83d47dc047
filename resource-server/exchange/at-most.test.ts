import { expect, test } from '@jest/globals';
import { createAtMost } from './at-most.ts';

const busy = expect.objectContaining({ status: 503, fields: { 'Retry-After': '1' } });

test('RFC 9110 section 15.6.4: work over the limit is 503 until other work is done', async () => {
  const atMost = createAtMost('test', 2);
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = atMost('key', () => promise);
  const { promise: other, resolve: end } = Promise.withResolvers<string>();
  const second = atMost('key', () => other);
  let begun = false;
  const third = atMost('key', async () => {
    begun = true;
  });
  await expect(third).rejects.toEqual(busy);
  expect(begun).toBe(false);
  resolve('first');
  expect(await first).toBe('first');
  expect(await atMost('key', async () => 'third')).toBe('third');
  end('second');
  expect(await second).toBe('second');
});

test('work that fails or throws at once frees its place', async () => {
  const atMost = createAtMost('test', 1);
  await expect(atMost('key', () => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
  const thrown = atMost('key', () => {
    throw new Error('at once');
  });
  await expect(thrown).rejects.toThrow('at once');
  expect(await atMost('key', async () => 'done')).toBe('done');
});

test('another key has a separate limit', async () => {
  const atMost = createAtMost('test', 1);
  const { promise, resolve } = Promise.withResolvers<string>();
  const waiting = atMost('one', () => promise);
  expect(await atMost('other', async () => 'done')).toBe('done');
  await expect(atMost('one', async () => 'done')).rejects.toEqual(busy);
  resolve('at last');
  expect(await waiting).toBe('at last');
});
