import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { memoryReplay } from './memory-replay.ts';

describe('RFC 9449 section 11.1: replay in memory', () => {
  test('each key is accepted once, for as long as it must be remembered', async () => {
    const clock = new ManualClock();
    const replay = memoryReplay(clock, () => {});
    expect(await replay.unique('dpop', 'a', 10)).toBe(true);
    expect(await replay.unique('dpop', 'b', 10)).toBe(true);
    expect(await replay.unique('else', 'a', 10)).toBe(true);
    clock.advance(9);
    expect(await replay.unique('dpop', 'a', 10)).toBe(false);
    clock.advance(1);
    expect(await replay.unique('dpop', 'a', 10)).toBe(true);
    expect(await replay.unique('dpop', 'a', 10)).toBe(false);
  });

  test.each([-3600, 3600])(
    'a clock that is set by %d s makes no key forgotten or kept longer',
    async (by) => {
      const clock = new ManualClock();
      const replay = memoryReplay(clock, () => {}, 2);
      await replay.unique('dpop', 'a', 10);
      clock.set(by);
      expect(await replay.unique('dpop', 'b', 10)).toBe(true);
      expect(await replay.unique('dpop', 'a', 10)).toBe(false);
      clock.advance(10);
      expect(await replay.unique('dpop', 'a', 10)).toBe(true);
    },
  );

  test('without room a key is refused, and with time there is room again', async () => {
    const clock = new ManualClock();
    const replay = memoryReplay(clock, () => {}, 2);
    await replay.unique('dpop', 'a', 10);
    await replay.unique('dpop', 'b', 10);
    await expect(replay.unique('dpop', 'c', 10)).rejects.toThrow(StoreUnavailable);
    expect(await replay.unique('dpop', 'a', 10)).toBe(false);
    clock.advance(10);
    expect(await replay.unique('dpop', 'c', 10)).toBe(true);
  });

  test('the first use is reported once', async () => {
    let told = 0;
    const replay = memoryReplay(new ManualClock(), () => void (told += 1));
    expect(told).toBe(0);
    for (const key of ['a', 'b', 'a']) await replay.unique('dpop', key, 10);
    expect(told).toBe(1);
  });
});
