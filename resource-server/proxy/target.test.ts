import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { parseProxyTarget } from './target.ts';

describe('RFC 9112 section 3.2.2: absolute-form', () => {
  test.each([
    ['http://a.example/', 80, 'a.example', '/'],
    ['http://a.example:8080/b/../c?d=e&f', 8080, 'a.example:8080', '/b/../c?d=e&f'],
    ['HTTP://A.Example', 80, 'A.Example', '/'],
    ['http://a.example?b', 80, 'a.example', '/?b'],
    ['http://a.example//b', 80, 'a.example', '//b'],
    ['http://a.example/debian/./Packages', 80, 'a.example', '/debian/./Packages'],
    ['http://a.example/%2F%00', 80, 'a.example', '/%2F%00'],
    ['http://a.example/http://b.example/', 80, 'a.example', '/http://b.example/'],
    ['http://[::1]:3001/', 3001, '[::1]:3001', '/'],
  ])('path and query of %s are forwarded as received', (text, port, authority, path) => {
    expect(parseProxyTarget('GET', text)).toMatchObject({ port, authority, path });
  });

  test('RFC 9112 section 3.2.4: OPTIONS without a path applies to the whole server', () => {
    expect(parseProxyTarget('OPTIONS', 'http://a.example')?.path).toBe('*');
    expect(parseProxyTarget('OPTIONS', 'http://a.example/')?.path).toBe('/');
    expect(parseProxyTarget('OPTIONS', 'http://a.example?b')?.path).toBe('/?b');
  });

  test.each([
    '/',
    '*',
    'a.example/',
    'a.example:80',
    'https://a.example/',
    'ftp://a.example/',
    'http:/a.example/',
    'http:///b',
    'http://',
    'http://:80/',
    'http://alice:secret@a.example/',
    'http://alice@a.example/',
    'http://a.example/#b',
    'http://a.example#b',
    'http://a.example/ b',
    'http://a.example/\tb',
    'http://a.example/\r\nHost: b',
    'http://a.example/\u00fc',
    'http://a.example\\@b.example/',
    'http://127.1/',
  ])('the target %j is refused', (text) => {
    expect(parseProxyTarget('GET', text)).toBeUndefined();
  });

  test('parsing a target never throws, and its path never breaks the request line', () => {
    fc.assert(
      fc.property(anyText(), fc.string(), (left, right) => {
        const target = parseProxyTarget('GET', `http://${left}/${right}`);
        if (target !== undefined) expect(target.path).toMatch(/^\/[!-~]*$/);
      }),
      { numRuns: 2000 },
    );
  });
});
