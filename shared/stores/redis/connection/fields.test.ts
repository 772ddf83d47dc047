import { beforeEach, expect, test } from '@jest/globals';
import { fieldsAsked } from './fields.ts';

let questions: (readonly [string, ...(readonly string[])])[];
beforeEach(() => {
  questions = [];
});

const field = fieldsAsked(async (key, fields) => {
  questions.push([key, ...fields]);
  return fields.map((one) => (one === 'none' ? null : `${one} of ${key}`));
});

test('fields of one hash are one question, each asked for once, and everybody gets their own', async () => {
  const asked = [field('a', 'x'), field('b', 'x'), field('a', 'none'), field('a', 'x')];
  expect(await Promise.all(asked)).toEqual(['x of a', 'x of b', null, 'x of a']);
  expect(questions).toEqual([
    ['a', 'x', 'none'],
    ['b', 'x'],
  ]);
});

test('fields that are asked for by later steps of the same turn are in the question', async () => {
  const later = async () => {
    for (let step = 0; step < 10; step += 1) await Promise.resolve();
    return field('a', 'y');
  };
  await Promise.all([field('a', 'x'), later()]);
  expect(questions).toEqual([['a', 'x', 'y']]);
});

test('once a question is asked the next caller gets the answer to a later one', async () => {
  const first = field('a', 'x');
  await new Promise(process.nextTick);
  expect(questions).toHaveLength(1);
  await Promise.all([first, field('a', 'x')]);
  expect(questions).toEqual([
    ['a', 'x'],
    ['a', 'x'],
  ]);
});

test('a question has at most 100 fields', async () => {
  const names = Array.from({ length: 250 }, (_, n) => `field ${n}`);
  const found = await Promise.all(names.map((name) => field('a', name)));
  expect(found).toEqual(names.map((name) => `${name} of a`));
  expect(questions.map(({ length }) => length - 1)).toEqual([100, 100, 50]);
});

test('a question that fails fails for all that are in it, and for nobody else', async () => {
  let fails = true;
  const failing = fieldsAsked(async (_, fields) => {
    if (fails) throw new Error('cut off');
    return fields.map(() => 'found');
  });
  const asked = [failing('a', 'x'), failing('a', 'y')];
  await Promise.all(asked.map((one) => expect(one).rejects.toThrow('cut off')));
  fails = false;
  expect(await failing('a', 'x')).toBe('found');
});
