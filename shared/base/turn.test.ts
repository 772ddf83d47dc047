import { expect, test } from '@jest/globals';
import { atTurnsEnd } from './turn.ts';

const nextTurn = () => new Promise((resolve) => void setImmediate(resolve));

test('what comes in one turn is done at its end, in its order', async () => {
  const done: number[] = [];
  for (const one of [1, 2, 3]) atTurnsEnd(() => void done.push(one));
  await Promise.resolve();
  expect(done).toEqual([]);
  await nextTurn();
  expect(done).toEqual([1, 2, 3]);
});

test('what asks again waits for the next one, so that others have theirs', async () => {
  const done: string[] = [];
  atTurnsEnd(() => {
    done.push('first');
    atTurnsEnd(() => void done.push('again'));
  });
  atTurnsEnd(() => void done.push('second'));
  await nextTurn();
  expect(done).toEqual(['first', 'second']);
  await nextTurn();
  expect(done).toEqual(['first', 'second', 'again']);
});
