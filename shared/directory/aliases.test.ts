import { expect, test } from '@jest/globals';
import { aliasesOf, userhashOf } from './aliases.ts';

test('RFC 7616 section 3.4.4, with the value that section 3.9.2 should have', () => {
  // The RFC has that of SHA-512 cut to 256 bits.
  expect(userhashOf('SHA-512-256', 'J\u00e4s\u00f8n Doe', 'api@example.org')).toBe(
    '793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b',
  );
});

test('RFC 7616 section 3.4.4: one for each HA1 that is kept, whose hash it is of; one for each principal', () => {
  const keys = { salt: '', iterations: 4096, stored_key: '', server_key: '' };
  const verifiers = {
    one: { digest: { MD5: 'x', 'SHA-256': 'x' } },
    two: { digest: { MD5: 'x' }, scram: { 'SHA-1': keys } },
    three: { scram: { 'SHA-1': keys } },
  };
  // printf alice:one | md5sum, and so on.
  expect(aliasesOf({ name: 'alice', verifiers, kerberos: ['alice@A', 'alice@B'] })).toEqual([
    'digest:MD5:1581fed5b4c37c147b53034b9d40f48c',
    'digest:SHA-256:e53f2028510aaf9eec7b33f05e4e60f6402d27afe56502f4faa4cad7767c7309',
    'digest:MD5:674ceaec8e75156be333b8032416ecd6',
    'kerberos:alice@A',
    'kerberos:alice@B',
  ]);
  expect(aliasesOf({ name: 'alice' })).toEqual([]);
});
