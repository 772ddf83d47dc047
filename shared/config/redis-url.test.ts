import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseRedisUrl } from './environment.ts';

test.each([
  ['redis://h:1', { mode: 'single', urls: ['redis://h:1'] }],
  ['rediss://u:p%2Cq@h:1/0', { mode: 'single', urls: ['rediss://u:p%2Cq@h:1/0'] }],
  ['sentinel:redis://a:1, redis://b:2', { mode: 'sentinel', urls: ['redis://a:1', 'redis://b:2'] }],
  ['cluster:redis://a:1', { mode: 'cluster', urls: ['redis://a:1'] }],
])('%s', (value, expected) => {
  expect(parseRedisUrl(value)).toEqual(expected);
});

test.each([
  '',
  'h:1',
  'http://h',
  'redis://',
  'redis:///0',
  'redis://a,redis://b',
  'sentinel:',
  'sentinel:redis://a,',
  'cluster:http://a',
  'replica:redis://a',
  'redis://a:99999',
  'redis://:pass/word@a:1',
  'redis://:pass#word@a:1',
  'redis://:100%@a:1',
  'redis://a:1/name',
  'redis://a:1?db=3',
  'REDIS://a\n,',
])('%j is refused', (value) => {
  expect(parseRedisUrl(value)).toBeUndefined();
});

test('only redis URLs are accepted, and their parts give the same URL again', () => {
  const part = fc.constantFrom(
    'redis://',
    'rediss://',
    'sentinel:',
    'cluster:',
    ',',
    ' ',
    'a',
    ':1',
    '@',
    '/',
    '%2C',
    '\n',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const parsed = parseRedisUrl(parts.join(''));
      if (parsed === undefined) return;
      expect(parsed.urls.every((url) => /^rediss?:$/.test(new URL(url).protocol))).toBe(true);
      const prefix = parsed.mode === 'single' ? '' : `${parsed.mode}:`;
      expect(parseRedisUrl(prefix + parsed.urls.join(','))).toEqual(parsed);
    }),
  );
});
