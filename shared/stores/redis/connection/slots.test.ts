import { expect, test } from '@jest/globals';
import { manySlots } from './slots.ts';

const slots = manySlots('cs');

test('each of the 64 characters of base64url has a slot of its own', () => {
  expect(new Set(slots.all).size).toBe(64);
  expect(slots.of('abc')).toBe('{cs:a}');
  expect(slots.of('_bc')).toBe('{cs:_}');
});

test.each(['', '}', '{', ':', '%', 'é', '\u0000', '\u{1F600}', '\uD83D', ' '])(
  'an id that nobody has issued, %j, has one of these slots as well',
  (id) => {
    expect(slots.all).toContain(slots.of(id));
    expect(slots.of(slots.beginningOf(id) + id)).toBe(slots.of(id));
  },
);

test('an id that begins as told is in the same slot', () => {
  for (const id of ['Abc', '-x', '9']) {
    expect(slots.of(`${slots.beginningOf(id)}another`)).toBe(slots.of(id));
  }
});
