import { expect, test } from '@jest/globals';
import { freeName, isNameTaken } from './passkey-names.ts';

const PASSKEYS = [
  { id: 'a', name: 'Phone' },
  { id: 'b', name: 'Phone 2' },
];

test('a passkey name is taken in upper and lower case and in any Unicode form, except for the passkey that has it', () => {
  for (const name of ['Phone', 'PHONE', 'Ｐｈｏｎｅ']) {
    expect(isNameTaken(PASSKEYS, name)).toBe(true);
    expect(isNameTaken(PASSKEYS, name, 'b')).toBe(true);
    expect(isNameTaken(PASSKEYS, name, 'a')).toBe(false);
  }
  expect(isNameTaken(PASSKEYS, 'Laptop')).toBe(false);
});

test('a proposed passkey name gets the next free number if it is taken', () => {
  expect(freeName(PASSKEYS, 'Laptop')).toBe('Laptop');
  expect(freeName(PASSKEYS, 'Phone')).toBe('Phone 3');
});
