import { describe, expect, test } from '@jest/globals';
import { compileJsonPath } from './jsonpath.ts';

const select = (text: string, value: unknown) => [...compileJsonPath(text)(value)];

describe('RFC 9535 section 2.4.6: match() matches the whole string', () => {
  test.each([
    ['a|b$', ['a', 'b']],
    ['^a|b', ['a', 'b']],
    ['a', ['a']],
    ['.*b', ['b', 'xb']],
    ['5', ['5']],
    ['', []],
  ])('match() with the pattern %j finds whole strings', (pattern, found) => {
    expect(select(`$[?match(@, '${pattern}')]`, ['a', 'b', 'xxa', 'xb', 'bx', '5', 5])).toEqual(
      found,
    );
  });

  test.each(['a)(b', '(?=a)ab', String.raw`\\bab`, '(?<n>a)b', 'a**b', '(a'])(
    'RFC 9485: %s is no I-Regexp, and matches nothing',
    (pattern) => {
      for (const name of ['match', 'search']) {
        expect(select(`$[?${name}(@, "${pattern}")]`, ['ab', 'a', 'b'])).toEqual([]);
      }
    },
  );
});

describe('RFC 9535 section 2.1: an invalid expression is 422', () => {
  test.each([
    '',
    ' ',
    '$ ',
    'a',
    '$.',
    '$[',
    '$[?@.a == $.b',
    '$[?count(@.a)]',
    '$[?unknown(@)]',
    '$[?has(@, "a")]',
    '$[9007199254740992]',
    '$\0',
    '$.__proto__()',
  ])('the JSONPath expression %j is 422', (text) => {
    expect(() => compileJsonPath(text)).toThrow(expect.objectContaining({ status: 422 }));
  });
});

test('JSONPath sees own members of objects, and no inherited members of the same names', () => {
  const value = JSON.parse('{"__proto__":{"a":1},"b":{"constructor":2}}') as unknown;
  expect(select('$..__proto__', value)).toEqual([{ a: 1 }]);
  expect(select('$..constructor', value)).toEqual([2]);
  expect(select('$..toString', value)).toEqual([]);
});

test('`..` descends a limited number of levels', () => {
  const nest = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;
  expect(select('$..*', nest(400))).toHaveLength(399);
  expect(() => select('$..*', nest(1000))).toThrow(expect.objectContaining({ status: 422 }));
});
