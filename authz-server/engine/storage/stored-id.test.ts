import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { storedId } from './stored-id.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

test.each(['AuthorizationCode', 'DeviceCode', 'RefreshToken'])(
  'a %s of any length is stored under its hash',
  (kind) => {
    for (const length of [0, 1, 42, 43, 44, 45]) {
      const id = 'x'.repeat(length);
      expect(storedId(kind, id)).toBe(sha256(id));
    }
  },
);

test('a stored identifier cannot be used as a code or token', () => {
  const stored = storedId('RefreshToken', 'x'.repeat(44));
  expect(storedId('RefreshToken', stored)).not.toBe(stored);
});

test('an identifier that gives no access is stored unchanged', () => {
  expect(storedId('Grant', 'x'.repeat(44))).toBe('x'.repeat(44));
});
