import { expect, test } from '@jest/globals';
import { isBelow } from './is-below.ts';

test.each([
  ['/a', '/a', true],
  ['/a?x=/b', '/a', true],
  ['/a/b', '/a', true],
  ['/a/b?x', '/a/', true],
  ['/a/', '/a/', true],
  ['/', '/', true],
  ['/a', '/', true],
  ['/ab', '/a', false],
  ['/a', '/a/', false],
  ['/a', '/a/b', false],
  ['/b?x=/a', '/a', false],
])('the target %s is at or below the path %s: %s', (target, path, expected) => {
  expect(isBelow(target, path)).toBe(expected);
});
