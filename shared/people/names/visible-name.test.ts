import { expect, test } from '@jest/globals';
import { isVisibleName } from './visible-name.ts';

test.each(['App', 'Büro 3', '日本語', 'x'.repeat(100)])('the name %s is visible', (name) => {
  expect(isVisibleName(name)).toBe(true);
});

test.each([
  ['nothing', ''],
  ['spaces alone', ' \u00a0'],
  ['101 characters', 'x'.repeat(101)],
  ['a line end', 'a\nb'],
  ['a line separator', 'a\u2028b'],
  ['an escape sequence', 'a\u001b[2J'],
  ['text that reads backwards', '\u202ea'],
  ['a character that cannot be seen', 'a\u200bb'],
  ['half a character', 'a\ud800'],
])('%s is refused', (_, name) => expect(isVisibleName(name)).toBe(false));
