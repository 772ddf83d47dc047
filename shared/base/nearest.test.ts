import { expect, test } from '@jest/globals';
import { nearest } from './nearest.ts';

const KNOWN = ['client add', 'client list', 'user add', 'user list', 'login', 'logout'];

test.each([
  ['a letter too few', 'cient add', 'client add'],
  ['a letter too many', 'usser list', 'user list'],
  ['another letter', 'logon', 'login'],
  ['the beginning of one alone', 'logi', 'login'],
])('nearest finds the intended word: %s', (_, word, meant) => {
  expect(nearest(word, KNOWN)).toBe(meant);
});

test.each(['', 'frobnicate', 'x', 'restart everything'])(
  'nearest suggests nothing for a word that is near to no other: "%s"',
  (word) => {
    expect(nearest(word, KNOWN)).toBeUndefined();
  },
);
