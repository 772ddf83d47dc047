import { expect, test } from '@jest/globals';
import { Evaluators } from './evaluators.ts';

/** Work that ends when it is told to. */
function held() {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { work: () => promise, resolve };
}

const busy = expect.objectContaining({ status: 503, fields: { 'Retry-After': '1' } });

test('two work at a time, the others one after the other as they came', async () => {
  const evaluators = new Evaluators();
  const started: number[] = [];
  const jobs = Array.from({ length: 5 }, (_, index) => {
    const { work, resolve } = held();
    const done = evaluators.use('alice', () => {
      started.push(index);
      return work();
    });
    return { done, resolve };
  });
  await new Promise(setImmediate);
  expect(started).toEqual([0, 1]);
  for (const index of [1, 0, 2, 3, 4]) {
    jobs[index]?.resolve(`${index}`);
    expect(await jobs[index]?.done).toBe(`${index}`);
  }
  expect(started).toEqual([0, 1, 2, 3, 4]);
});

test('RFC 9110 section 15.6.4: 503 for who has too many waiting, and for all when it is full', async () => {
  const evaluators = new Evaluators();
  const { work, resolve } = held();
  const use = (owner: string) => evaluators.use(owner, work);
  const waiting = Array.from({ length: 8 }, () => use('alice'));
  await expect(use('alice')).rejects.toEqual(busy);
  for (const owner of ['bob', 'carol', 'dave']) {
    waiting.push(...Array.from({ length: 8 }, () => use(owner)));
  }
  await expect(use('erin')).rejects.toEqual(busy);
  resolve('done');
  expect(await Promise.all(waiting)).toHaveLength(32);
  expect(await use('erin')).toBe('done');
  expect(await use('alice')).toBe('done');
});

test('work that fails gives its place back', async () => {
  const evaluators = new Evaluators();
  const failing = async () => {
    throw new Error('no');
  };
  const failed = Array.from({ length: 8 }, async () => evaluators.use('alice', failing));
  expect((await Promise.allSettled(failed)).every(({ status }) => status === 'rejected')).toBe(
    true,
  );
  expect(await evaluators.use('alice', async () => 'done')).toBe('done');
});
