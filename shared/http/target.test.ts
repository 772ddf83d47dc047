import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { originForm, parseTarget, parseTreeTarget } from './target.ts';

describe('RFC 9112 section 3.2: the request target', () => {
  test.each([
    ['/', { form: 'origin', segments: [], trailingSlash: true, path: '/' }],
    ['/a', { form: 'origin', segments: ['a'], trailingSlash: false, path: '/a' }],
    ['/a/b/', { form: 'origin', segments: ['a', 'b'], trailingSlash: true, path: '/a/b/' }],
    ['/%61%c3%a9%2525', { segments: ['aé%25'], path: '/a%C3%A9%2525' }],
    ["/a;b=c&d@e:f,g+h$i!j'k(l)*~-._", { path: "/a;b=c&d@e:f,g+h$i!j'k(l)*~-._" }],
    ['/[a]', { segments: ['[a]'], path: '/%5Ba%5D' }],
    ['/...', { segments: ['...'] }],
    ['/%252e%252e', { segments: ['%2e%2e'] }],
    ['/%252F', { segments: ['%2F'] }],
    ['*', { form: 'asterisk', segments: [], trailingSlash: false, path: '*', query: undefined }],
    ['http://a', { form: 'absolute', segments: [], trailingSlash: true, path: '/' }],
    ['HTTPS://a.example:8443/b/?c', { form: 'absolute', segments: ['b'], path: '/b/', query: 'c' }],
    ['http://[::1]:80?a', { form: 'absolute', path: '/', query: 'a' }],
    ['/a?', { path: '/a', query: '' }],
    ['/a?b/../%2F%00?c\\', { path: '/a', query: 'b/../%2F%00?c\\' }],
  ])('%s', (target, expected) => {
    expect(parseTarget(target)).toMatchObject(expected);
  });

  test.each([
    ['nothing', ''],
    ['no slash', 'a'],
    ['authority-form', 'a.example:80'],
    ['another scheme', 'ftp://a/'],
    ['no authority', 'http:///a'],
    ['an authority without a host (RFC 9110 section 4.2.1)', 'http://:80/'],
    ['userinfo (RFC 9110 section 4.2.4)', 'http://a:b@c/'],
    ['an invalid port', 'http://a:99999/'],
    ['a fragment', '/a#b'],
    ['an encoded slash', '/a%2fb'],
    ['an encoded backslash', '/a%5Cb'],
    ['a backslash', '/a\\b'],
    ['NUL', '/a%00'],
    ['an encoded line break', '/a%0d%0ab'],
    ['DEL', '/%7f'],
    ['a C1 control', '/%c2%85'],
    ['a space', '/a b'],
    ['a raw byte', '/\xe9'],
    ['an unfinished percent', '/a%'],
    ['percent and no hex', '/a%zz'],
    ['Latin-1', '/%e9'],
    ['overlong UTF-8 of a slash', '/%c0%af'],
    ['a surrogate', '/%ed%a0%80'],
    ['a dot segment', '/a/./b'],
    ['two dots', '/a/../b'],
    ['two dots at the end', '/a/..'],
    ['encoded dots', '/a/%2e%2E/b'],
    ['half-encoded dots', '/.%2e'],
    ['two dots after an authority', 'http://a/../b'],
    ['an empty segment', '/a//b'],
    ['two slashes first', '//evil.example/a'],
    ['two slashes last', '/a//'],
    ['only slashes', '//'],
    ['an encoded carriage return', '/Icon%0D'],
  ])('refuses %s', (_, target) => {
    expect(parseTarget(target)).toBeUndefined();
  });

  test('the normal form equals its own normal form, and has the same meaning', () => {
    const piece = fc.oneof(
      fc.constantFrom('/', '.', '..', '%2e', '%2F', '%', '?', '#', '\\', '*', 'http://', '@', ':'),
      anyText({ maxLength: 3 }),
      fc.string({ maxLength: 3 }).map(encodeURIComponent),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const target = parseTarget(`/${pieces.join('')}`);
        if (target === undefined) return;
        const { segments, trailingSlash, path } = target;
        expect(parseTarget(path)).toMatchObject({ segments, trailingSlash, path });
        for (const segment of segments) expect(segment).not.toMatch(/^\.{0,2}$|[/\\\p{Cc}]/u);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['/a/b', { segments: ['a', 'b'], trailingSlash: false }],
    ['/a//b', { segments: ['a', 'b'], odd: 1, path: '/a/b', trailingSlash: false }],
    ['/a//', { segments: ['a'], odd: 1, path: '/a/', trailingSlash: true }],
    ['/a/b%0D', { segments: ['a', 'b\r'], odd: 1, path: '/a/b%0D' }],
    ['/a%0d//b', { segments: ['a\r', 'b'], odd: 0 }],
    ['http://a/b//c?//', { form: 'absolute', segments: ['b', 'c'], odd: 1, query: '//' }],
  ])('%s may lead into a tree of documents', (text, expected) => {
    const target = parseTreeTarget(text);
    expect(target).toMatchObject(expected);
    expect(target?.odd).toBe('odd' in expected ? expected.odd : undefined);
  });

  test.each(['//a', '//', '///', '/a%0D%0A', '/a//..', '/a//%2e', '/a//%2F', '/a/%0D\\'])(
    '%s is refused as the target of a document',
    (text) => {
      expect(parseTreeTarget(text)).toBeUndefined();
    },
  );

  test('any text other than a dot segment has an encoding that decodes to the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (segment) => {
        fc.pre(!/^\.{1,2}$|[/\\\p{Cc}]/u.test(segment));
        expect(parseTarget(`/${encodeURIComponent(segment)}`)?.segments).toEqual([segment]);
      }),
    );
  });
});

test.each([
  ['/a%2f?b=/c', '/a%2f?b=/c'],
  ['http://api.example/a?b', '/a?b'],
  ['HTTPS://api.example:1?b', '/?b'],
  ['http://api.example', '/'],
  ['/?http://api.example/', '/?http://api.example/'],
])('%s in origin form: %s (RFC 9112 section 3.2.1)', (target, expected) => {
  expect(originForm(target)).toBe(expected);
});
