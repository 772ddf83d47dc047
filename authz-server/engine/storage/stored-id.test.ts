import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { storedId } from './stored-id.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

test.each(['AuthorizationCode', 'DeviceCode', 'RefreshToken'])(
  'a %s of 43 characters is stored by its hash, one of 44 by its first character and its hash',
  (kind) => {
    const id = 'x'.repeat(43);
    expect(storedId(kind, id)).toBe(sha256(id));
    expect(storedId(kind, `A${id}`)).toBe(`A${sha256(`A${id}`)}`);
    for (const odd of ['', 'x', 'x'.repeat(42), 'x'.repeat(45)]) {
      expect(storedId(kind, odd)).toBe(sha256(odd));
    }
  },
);

test('nothing that is stored is good for a use', () => {
  const stored = storedId('RefreshToken', 'x'.repeat(44));
  expect(storedId('RefreshToken', stored)).not.toBe(stored);
});

test('an identifier that lets nobody do anything is stored as it is', () => {
  expect(storedId('Grant', 'x'.repeat(44))).toBe('x'.repeat(44));
});
