import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { BanRule } from '#shared/http/ban-rule.ts';
import { banMatch } from './ban-match.ts';

/** A simplified normalization (RFC 3986 section 6.2.2.1) that suffices for these tests. */
const normal = (target: string) =>
  target.replaceAll(/%[0-9a-f]{2}/gi, (text) => text.toUpperCase());

const has = (rule: BanRule, stored: object, depth = 1) =>
  banMatch(rule, { depth, normal })({ target: '/app/', status: 200, tags: [], ...stored });

describe('the path of a ban', () => {
  test.each([
    ['/a', '/app/a', true],
    ['/a', '/app/a?b', true],
    ['/a', '/app/a/', false],
    ['/a', '/app/b/a', false],
    ['/app/a', '/app/a', false],
    ['/', '/app/', true],
    ['/', '/app', true],
    ['/', '/app?a', true],
    ['/img/*', '/app/img/a/b.png?c', true],
    ['/img/*', '/app/img/', true],
    ['/img/*', '/app/img', false],
    ['*.png', '/app/img/a.png', true],
    ['*.png', '/app/img/a.png?b', true],
    ['*.png', '/app/img/a.png.txt', false],
    ['/a?*', '/app/a?b', true],
    ['/a?*', '/app/a', false],
    ['/a?b=*&c', '/app/a?b=1&c', true],
    ['/a*a', '/app/a', false],
    ['/*/b/*/c', '/app/a/b/x/c', true],
    ['/*/b/*/c', '/app/a/b/c', false],
    ['*', '/app/', true],
    ['/caf%c3%a9', '/app/caf%C3%A9', true],
    ['*%c3*', '/app/caf%C3%A9', true],
    ['/a.b', '/app/aXb', false],
    ['/a//b', '/app/a//b', true],
  ])('the ban path %s matches the target %s: %s', (path, target, expected) => {
    expect(has({ path }, { target })).toBe(expected);
  });

  test('a ban path is relative to the space, whatever its depth or spelling', () => {
    expect(has({ path: '/a' }, { target: '/a' }, 0)).toBe(true);
    expect(has({ path: '/a' }, { target: '/x/y/a' }, 2)).toBe(true);
    expect(has({ path: '/a' }, { target: '/%61pp/a' })).toBe(true);
  });

  test('a ban path matches like the equivalent regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '?'), maxLength: 12 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (one, other) => {
        const expression = new RegExp(`^/${one.replaceAll('*', '.*')}$`);
        expect(has({ path: `/${one}` }, { target: `/app/${other}` })).toBe(
          expression.test(`/${other.split('?', 1)[0] ?? ''}`),
        );
      }),
    );
  });

  test('matching a ban path with many wildcards takes no exponential time', () => {
    const target = `/app/${'a'.repeat(100_000)}`;
    expect(has({ path: `/${'*a'.repeat(16)}b` }, { target })).toBe(false);
  });
});

test.each([
  ['404', 404, true],
  ['404', 405, false],
  ['4xx', 410, true],
  ['4xx', 200, false],
])('the ban status %s matches the status %d: %s', (status, actual, expected) => {
  expect(has({ status }, { status: actual })).toBe(expected);
});

test('a ban tag matches an equal tag of the answer, case-sensitively', () => {
  expect(has({ tag: 'b' }, { tags: ['a', 'b'] })).toBe(true);
  expect(has({ tag: 'B' }, { tags: ['a', 'b'] })).toBe(false);
  expect(has({ tag: 'b' }, { tags: ['bb'] })).toBe(false);
});

test('a ban matches only if all its conditions match', () => {
  const stored = { target: '/app/a', tags: ['b'], status: 404 };
  expect(has({ path: '/a', tag: 'b', status: '404' }, stored)).toBe(true);
  expect(has({ path: '/a', tag: 'b', status: '405' }, stored)).toBe(false);
  expect(has({ path: '/a', tag: 'c', status: '404' }, stored)).toBe(false);
  expect(has({ path: '/b', tag: 'b', status: '404' }, stored)).toBe(false);
});
