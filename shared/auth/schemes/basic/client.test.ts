import { expect, test } from '@jest/globals';
import { basicCredentials } from './client.ts';

test('RFC 7617 sections 2 and 2.1: the client encodes the examples', () => {
  expect(basicCredentials('Aladdin', 'open sesame')).toBe('Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==');
  expect(basicCredentials('test', '123\u00A3')).toBe('Basic dGVzdDoxMjPCow==');
});

test.each([
  ['a:b', 'x'],
  ['a\r\nX: y', 'x'],
  ['a', 'x\0'],
])(
  'RFC 7617 section 2: the client refuses a colon in a name, and control characters: %j',
  (name, password) => {
    expect(() => basicCredentials(name, password)).toThrow('Basic carries no');
  },
);
