import { expect, test } from '@jest/globals';
import { batched } from './batched.ts';

const whens: (() => void)[] = [];
const when = (work: () => void) => void whens.push(work);

test('all requests before `when` calls are processed together, and each caller gets its own result', async () => {
  const done: (readonly number[])[] = [];
  const ask = batched(when, async (all: readonly number[]) => {
    done.push(all);
    return all.map((one) => 2 * one);
  });
  const first = [ask(1), ask(2)];
  whens.shift()?.();
  const second = ask(3);
  whens.shift()?.();
  expect(await Promise.all([...first, second])).toEqual([2, 4, 6]);
  expect(done).toEqual([[1, 2], [3]]);
});

test('all requests can fail together, and one can fail alone', async () => {
  const ask = batched(when, async (all: readonly string[]) => {
    if (all.includes('all')) throw new Error('all');
    return all.map((one) => (one === 'one' ? Promise.reject(new Error('one')) : one));
  });
  const outcomes = (asked: readonly string[]) => {
    const settled = Promise.allSettled(asked.map(ask));
    whens.shift()?.();
    return settled.then((all) => all.map(({ status }) => status));
  };
  expect(await outcomes(['a', 'all'])).toEqual(['rejected', 'rejected']);
  expect(await outcomes(['a', 'one', 'b'])).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
