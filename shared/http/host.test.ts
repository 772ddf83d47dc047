import { expect, test } from '@jest/globals';
import { isHost } from './host.ts';

test.each([
  'a',
  'a.example',
  'A_b.example:8443',
  'a:',
  '127.0.0.1:80',
  '[::1]',
  '[2001:db8::1]:443',
  '%61',
])('RFC 9110 section 7.2: %j is a Host', (value) => {
  expect(isHost(value)).toBe(true);
});

test.each(['', ':', ':80'])('RFC 9110 section 4.2.1: a host is not empty: %j', (value) => {
  expect(isHost(value)).toBe(false);
});

test.each([
  'a b',
  'a, b',
  'a/b',
  'a?b',
  'a#b',
  'a@b',
  'a\\b',
  'a\tb',
  'a:b',
  'a:80:80',
  'a:65536',
  'a:-1',
  'http://a',
  '::1',
  '[::1',
  '::1]',
  '[a]',
  '[]',
  '[fe80::1%25eth0]',
  '[fe80::1%eth0]',
  '[::1]a',
  '%',
  '%zz',
  'é',
  'a\0',
  'a\n',
])('RFC 9112 section 3.2: %j is no Host', (value) => {
  expect(isHost(value)).toBe(false);
});
