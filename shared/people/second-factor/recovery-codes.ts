import { createHmac } from 'node:crypto';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { Random } from '#shared/base/random.ts';

/** Characters without letters that look like others. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** Characters of a code, of five bits each: 50 bits. */
const LENGTH = 10;
const MOST = 10;

const CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

/** Makes ten codes, as `readRecoveryCode` returns them. */
export const newRecoveryCodes = (random: Random): readonly string[] =>
  Array.from({ length: MOST }, () =>
    [...random(LENGTH)].map((octet) => ALPHABET[octet % ALPHABET.length]).join(''),
  );

/** Returns a code as it is shown to people: in two groups. */
export const shownRecoveryCode = (code: string): string =>
  `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;

/** Reads a code that a person typed, with any spaces and dashes; undefined if it cannot be a code. */
export function readRecoveryCode(typed: string): string | undefined {
  const upper = typed.replaceAll(/[\s-]/g, '').toUpperCase();
  // People write letters in place of similar digits.
  const code = upper.replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  return CODE.test(code) ? code : undefined;
}

/**
 * Returns a MAC of a code under the master secret, which the store keeps, so that a copy of the store alone reveals
 * no code.
 */
export const recoveryMac = (master: Buffer, accountId: string, code: string): string =>
  createHmac('sha256', derivedKey(master, 'countersign second factor recovery'))
    .update(JSON.stringify([accountId, code]))
    .digest('base64url');
