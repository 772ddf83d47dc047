import { expect, test } from '@jest/globals';
import { epochSeconds, ManualClock } from './clock.ts';

test('RFC 7519 section 2: NumericDate counts whole seconds', () => {
  const clock = new ManualClock(1_999);
  expect(epochSeconds(clock)).toBe(1);
  clock.advance(0.001);
  expect(epochSeconds(clock)).toBe(2);
});
