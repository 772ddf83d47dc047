import { expect, test } from '@jest/globals';
import { HeldAnswer } from './held-answer.ts';
import { testSink } from './sink.fixture.ts';

const HEAD = { status: 200, rawHeaders: [], httpVersion: '1.1' };

test('pieces that arrive before the sink is chosen reach it in order', async () => {
  const asker = testSink();
  const chosen = testSink();
  const choice = Promise.withResolvers<typeof chosen>();
  const held = new HeldAnswer(asker, () => choice.promise);
  held.begin(HEAD);
  expect(held.write(Buffer.from('a'))).toBe(false);
  let resumed = 0;
  held.drained(() => (resumed += 1));
  held.end([]);
  expect(chosen.told).toEqual([]);
  choice.resolve(chosen);
  await held.begun;
  expect(chosen.told).toEqual(['begin 200', 'a', 'end']);
  expect(resumed).toBe(1);
  expect(asker.told).toEqual([]);
});

test('an answer that breaks off before the sink is chosen breaks off at the sink', async () => {
  const asker = testSink();
  const held = new HeldAnswer(asker, async () => asker);
  held.begin(HEAD);
  held.write(Buffer.from('a'));
  held.breakOff();
  await held.begun;
  expect(asker.told).toEqual(['begin 200', 'a', 'break']);
});

test('if no sink could be chosen, the client sees nothing of the answer', async () => {
  const asker = testSink();
  const held = new HeldAnswer(asker, async () => {
    throw new Error('no');
  });
  held.begin(HEAD);
  held.write(Buffer.from('a'));
  await expect(held.begun).rejects.toThrow('no');
  expect(held.wanted).toBe(false);
  expect(held.write(Buffer.from('b'))).toBe(true);
  held.end([]);
  expect(asker.told).toEqual([]);
});
