import { expect, test } from '@jest/globals';
import { gathered } from './multi-status.ts';

async function* pieces(...all: readonly string[]): AsyncGenerator<string, undefined> {
  yield* all;
}

/** Gathers an answer of which the client has read one piece so far. */
async function begun(...all: readonly string[]) {
  const kept: string[] = [];
  const answer = gathered(pieces(...all), async (whole) => void kept.push(whole));
  const read = [(await answer.next()).value];
  return {
    kept,
    async readAll() {
      for await (const piece of answer) read.push(piece);
      return read.join('');
    },
    leave: () => answer.return(undefined),
  };
}

test('an answer is kept once the client has read all of it, and not if the client leaves before', async () => {
  const [whole, left] = [await begun('a', 'b'), await begun('a', 'b')];
  expect(await whole.readAll()).toBe('ab');
  await left.leave();
  expect([whole.kept, left.kept]).toEqual([['ab'], []]);
});

test('an answer of more than 1 MiB is sent, and not kept', async () => {
  const piece = 'x'.repeat(1024 * 1024);
  const [fits, long] = [await begun(piece), await begun(piece, 'y', 'z')];
  expect([(await fits.readAll()).length, fits.kept.length]).toEqual([piece.length, 1]);
  expect([(await long.readAll()).length, long.kept.length]).toEqual([piece.length + 2, 0]);
});

test('at most four answers are gathered at a time, and a fifth is sent without being kept', async () => {
  const four = await Promise.all(Array.from({ length: 4 }, () => begun('a', 'b')));
  const fifth = await begun('a', 'b');
  expect([await fifth.readAll(), fifth.kept]).toEqual(['ab', []]);
  await four[0]?.leave();
  const next = await begun('a', 'b');
  expect([await next.readAll(), next.kept]).toEqual(['ab', ['ab']]);
  for (const one of four) await one.leave();
});
