import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { systemRandom } from '#shared/base/random.ts';
import { apiKeySecretHash, newApiKey, parseApiKey } from './api-key.ts';

/** Bytes 0, 1, 2 ...; the checksum was computed by Python's zlib.crc32. */
const KNOWN =
  'cs_0001020304050607_000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1fed9a202f';

test('a key has prefix, id, secret and checksum, and only the hash of the secret is stored', () => {
  const counting = (bytes: number) => Buffer.from(Array.from({ length: bytes }, (_, i) => i));
  const { id, key, secret_hash } = newApiKey(counting);
  expect(key).toBe(KNOWN);
  expect(id).toBe('0001020304050607');
  const secret = KNOWN.slice(20, 84);
  expect(parseApiKey(key)).toEqual({ id, secret });
  expect(secret_hash).toBe(createHash('sha256').update(secret).digest('base64url'));
  expect(apiKeySecretHash(secret)).toBe(secret_hash);
});

test('each new key has 256 random bits of secret, and 64 of id', () => {
  const keys = Array.from({ length: 100 }, () => newApiKey(systemRandom));
  expect(new Set(keys.map(({ id }) => id)).size).toBe(100);
  expect(new Set(keys.map(({ secret_hash }) => secret_hash)).size).toBe(100);
});

test.each([
  ['empty', ''],
  ['upper case', KNOWN.toUpperCase()],
  ['a space before', ` ${KNOWN}`],
  ['a line feed after', `${KNOWN}\n`],
  ['another prefix', KNOWN.replace('cs_', 'sk_')],
  ['twice', KNOWN + KNOWN],
  ['with a scheme', `Bearer ${KNOWN}`],
  ['the id alone', 'cs_0001020304050607'],
  ['without its checksum', KNOWN.slice(0, -8)],
  ['64 KiB', 'c'.repeat(65_536)],
])('a text is refused as a key: %s', (_, text) => {
  expect(parseApiKey(text)).toBeUndefined();
});

test('a key is refused with a character that is wrong, lost or doubled, or with two exchanged', () => {
  fc.assert(
    fc.property(
      fc.nat(KNOWN.length - 2),
      fc.string({ minLength: 1, maxLength: 1 }),
      (at, character) => {
        const [before, here = '', next = '', after] = [
          KNOWN.slice(0, at),
          KNOWN[at],
          KNOWN[at + 1],
          KNOWN.slice(at + 2),
        ];
        const spoilt = [
          before + character + next + after,
          before + next + after,
          before + here + here + next + after,
          before + next + here + after,
        ];
        for (const text of spoilt) {
          if (text !== KNOWN) expect(parseApiKey(text)).toBeUndefined();
        }
      },
    ),
  );
});

test('exactly the keys that newApiKey writes are read', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 40, maxLength: 40 }), (bytes) => {
      const parts = [bytes.slice(0, 8), bytes.slice(8)];
      const { id, key, secret_hash } = newApiKey(() => Buffer.from(parts.shift() ?? []));
      const parsed = parseApiKey(key);
      expect(parsed?.id).toBe(id);
      expect(apiKeySecretHash(parsed?.secret ?? '')).toBe(secret_hash);
    }),
  );
});
