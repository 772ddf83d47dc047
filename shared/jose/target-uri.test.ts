import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyUri } from '#shared/http/any-uri.fixture.ts';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { normaliseTargetUri } from './dpop-proof.ts';

test.each([
  ['HTTPS://RS.Example/a', 'https://rs.example/a', '6.2.2.1 case'],
  [
    'https://rs.example/%7euser/%41%2d%2E%5f',
    'https://rs.example/~user/A-._',
    '6.2.2.2 unreserved',
  ],
  [
    'https://rs.example/a%2fb%c3%a4',
    'https://rs.example/a%2Fb%C3%A4',
    '6.2.2.1 hexadecimal digits',
  ],
  ['https://rs.example/a/./b/../c', 'https://rs.example/a/c', '6.2.2.3 dot segments'],
  ['https://rs.example:443/a', 'https://rs.example/a', '6.2.3 default port'],
  ['http://rs.example:80', 'http://rs.example/', '6.2.3 empty path'],
  ['https://rs.example/a?token=x#y', 'https://rs.example/a', 'RFC 9449 section 4.3: no query'],
])('RFC 3986: %s is %s (section %s)', (uri, normal) => {
  expect(normaliseTargetUri(uri)).toBe(normal);
});

test.each([
  ['https://rs.example/a', 'https://rs.example/a/'],
  ['https://rs.example/a', 'https://rs.example/A'],
  ['https://rs.example/a', 'http://rs.example/a'],
  ['https://rs.example/a', 'https://rs.example:8443/a'],
  ['https://rs.example/a/b', 'https://rs.example/a%2Fb'],
  ['https://rs.example/a', 'https://rs.example.evil/a'],
])('%s and %s stay different', (one, other) => {
  expect(normaliseTargetUri(one)).not.toBe(normaliseTargetUri(other));
});

test.each([
  '',
  '/a',
  '//rs.example/a',
  'https:rs.example/a',
  'ftp://rs.example/a',
  'javascript://rs.example/%0aalert(1)',
  'https://user@rs.example/a',
  'https://user:pass@rs.example/a',
  'https://rs.example\\a',
  'https://rs.example/\ta',
  ' https://rs.example/a',
  'https://rs.example/a\n',
  'https://rs.example/ä',
  'https://rs.example:99999/',
])('%j is no target URI', (uri) => expect(normaliseTargetUri(uri)).toBeUndefined());

test('a normal URI stays as it is', () => {
  fc.assert(
    fc.property(anyUri, (uri) => {
      const once = normaliseTargetUri(uri);
      return once === undefined || normaliseTargetUri(once) === once;
    }),
  );
});

test('any text gives a normal URI or undefined', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      const normal = normaliseTargetUri(`https://${text}`);
      return normal === undefined || normal.startsWith('https://');
    }),
  );
});
