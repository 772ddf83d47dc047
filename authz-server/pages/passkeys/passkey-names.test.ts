import { expect, test } from '@jest/globals';
import { freeName, isNameTaken } from './passkey-names.ts';

const PASSKEYS = [
  { id: 'a', name: 'Phone' },
  { id: 'b', name: 'Phone 2' },
];

test('a name is taken in any case and any form of its characters, but not by the passkey itself', () => {
  for (const name of ['Phone', 'PHONE', 'Ｐｈｏｎｅ']) {
    expect(isNameTaken(PASSKEYS, name)).toBe(true);
    expect(isNameTaken(PASSKEYS, name, 'b')).toBe(true);
    expect(isNameTaken(PASSKEYS, name, 'a')).toBe(false);
  }
  expect(isNameTaken(PASSKEYS, 'Laptop')).toBe(false);
});

test('a name that nobody chose gets the next number that is free', () => {
  expect(freeName(PASSKEYS, 'Laptop')).toBe('Laptop');
  expect(freeName(PASSKEYS, 'Phone')).toBe('Phone 3');
});
