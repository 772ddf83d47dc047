import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyPath } from '#shared/http/any-uri.fixture.ts';
import { isRequestUri } from './request-uri.ts';

const origin = 'https://rs.example';

describe('RFC 7616 section 3.4.6: uri designates the target', () => {
  test.each([
    ['origin-form', '/a/b?c=d', '/a/b?c=d'],
    ['an encoding as it was sent', '/%61%2f?%c3%a4', '/%61%2f?%c3%a4'],
    ['the asterisk', '*', '*'],
    ['absolute-form', 'http://a.example/b?c', 'http://a.example/b?c'],
    ['CONNECT: host and port', 'a.example:443', 'a.example:443'],
    ['curl, Chromium, python-requests at a proxy', 'http://a.example/b?c', '/b?c'],
    ['the same without a path', 'http://a.example', '/'],
    ['the same with a query alone', 'http://a.example?b', '/?b'],
    ['Apache HttpClient 4 behind a proxy', '/a?b', 'https://rs.example/a?b'],
  ])('this form of uri is accepted: %s', (_, target, uri) => {
    expect(isRequestUri(uri, { target, origin })).toBe(true);
  });

  test.each([
    ['a query that was dropped (axios-digest-auth)', '/a?b', '/a'],
    ['a query that was dropped, at a proxy', 'http://a.example/a?b', '/a'],
    ['an empty query that was dropped', '/a?', '/a'],
    ['a query that was added', '/a', '/a?b'],
    ['a parameter that was dropped (python-requests)', '/a;b', '/a'],
    ['another path', '/a', '/b'],
    ['another case', '/a', '/A'],
    ['another encoding of the same', '/%61', '/a'],
    ['another case of an encoding', '/%2f', '/%2F'],
    ['a slash more', '/a', '/a/'],
    ['dot segments', '/a', '/b/../a'],
    ['nothing', '/a', ''],
    ['the asterisk for a path', '/a', '*'],
    ['a path for the asterisk', '*', '/'],
    ['the origin for the asterisk', '*', 'https://rs.example*'],
    ['another origin', '/a', 'https://other.example/a'],
    ['our origin in another scheme', '/a', 'http://rs.example/a'],
    ['another origin, at a proxy', 'http://a.example/b', 'http://c.example/b'],
    ['a path for CONNECT', 'a.example:443', '/'],
    ['the name alone for CONNECT', 'a.example:443', 'a.example'],
    ['another port for CONNECT', 'a.example:443', 'a.example:444'],
  ])('a uri with this fault is refused: %s', (_, target, uri) => {
    expect(isRequestUri(uri, { target, origin })).toBe(false);
  });

  test('for a target in origin-form only the same uri is accepted', () => {
    const path = anyPath.map((text) => `/${text}`);
    fc.assert(
      fc.property(path, path, (target, uri) => {
        expect(isRequestUri(uri, { target, origin })).toBe(uri === target);
        expect(isRequestUri(uri, { target: `http://a.example${target}`, origin })).toBe(
          uri === target,
        );
      }),
    );
  });
});
