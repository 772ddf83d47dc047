import { expect, test } from '@jest/globals';
import { hasWords, rarestKeyOf, wordKeysOf } from './word-keys.ts';

test.each([
  ['Dina Müller', ['word:dina', 'word:müller']],
  ['  dina  DINA ', ['word:dina']],
  ["O'Brien (IT)", ['word:o', 'word:brien', 'word:it']],
  ['Mu\u0308ller', ['word:müller']],
  ['', []],
  ['!?', []],
  ['a b c d e f g h i', 'abcdefgh'.split('').map((letter) => `word:${letter}`)],
])('the words of %j have the search keys %j', (name, keys) => {
  expect(wordKeysOf(name)).toEqual(keys);
});

test('a search for the first characters of a long word finds the key of the word', () => {
  const long = 'x'.repeat(10_000);
  const [key = ''] = wordKeysOf(long);
  expect(key).toHaveLength('word:'.length + 32);
  for (const typed of ['X', long.slice(0, 31), long]) expect(hasWords(long, typed)).toBe(true);
});

test.each([
  ['dina müller', 'word:müller'],
  ['Müller di', 'word:müller'],
  ['di mü', 'word:di'],
  ['!', undefined],
])('the words of %j are looked up by the longest of them', (typed, key) => {
  expect(rarestKeyOf(typed)).toBe(key);
});

test('words that differ only in the character that is cut have one key, which a store takes as it is', () => {
  const start = 'x'.repeat(31);
  const keys = wordKeysOf(`${start}\u{10428} ${start}\u{20000}`);
  expect(keys).toHaveLength(1);
  expect(keys[0]?.isWellFormed()).toBe(true);
  expect(hasWords(`${start}\u{20000}`, `${start}\u{20000}`)).toBe(true);
});

test.each([
  ['Dina Müller', 'mü di', true],
  ['Dina Müller', 'dina müllerin', false],
  ['Dina Müller', 'ina', false],
  ['Dina Müller', '', true],
])('the words of %j begin with those of %j: %s', (name, typed, expected) => {
  expect(hasWords(name, typed)).toBe(expected);
});
