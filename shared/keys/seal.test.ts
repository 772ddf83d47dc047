import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { systemRandom } from '#shared/base/random.ts';
import { seal, unseal } from './seal.ts';

const master = randomBytes(32);

test('sealed text opens with the same master secret and purpose', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      expect(unseal(master, 'key', seal(master, 'key', text, systemRandom))).toBe(text);
    }),
  );
});

test('sealed text does not open with another master secret or another purpose', () => {
  const sealed = seal(master, 'key', 'private', systemRandom);
  expect(() => unseal(randomBytes(32), 'key', sealed)).toThrow(/authenticate/);
  expect(() => unseal(master, 'other', sealed)).toThrow(/authenticate/);
});

test('a changed or truncated text does not open', () => {
  const sealed = Buffer.from(seal(master, 'key', 'private', systemRandom), 'base64url');
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => unseal(master, 'key', changed.toString('base64url'))).toThrow();
    expect(() => unseal(master, 'key', sealed.subarray(0, at).toString('base64url'))).toThrow();
  }
});

test('the same text sealed twice differs', () => {
  expect(seal(master, 'key', 'a', systemRandom)).not.toBe(seal(master, 'key', 'a', systemRandom));
});
