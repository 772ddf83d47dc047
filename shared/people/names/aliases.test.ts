import { expect, test } from '@jest/globals';
import { aliasesOf } from './aliases.ts';
import { userhashOf } from '../digest-hash.ts';

test('RFC 7616 section 3.4.4, with the value that section 3.9.2 should have', () => {
  // The RFC has that of SHA-512 cut to 256 bits.
  expect(userhashOf('SHA-512-256', 'J\u00e4s\u00f8n Doe', 'api@example.org')).toBe(
    '793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b',
  );
});

test('one for each principal', () => {
  expect(aliasesOf({ kerberos: ['alice@A', 'alice@B'] })).toEqual([
    'kerberos:alice@A',
    'kerberos:alice@B',
  ]);
  expect(aliasesOf({})).toEqual([]);
});
