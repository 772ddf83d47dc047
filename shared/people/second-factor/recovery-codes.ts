import { createHmac } from 'node:crypto';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { Random } from '#shared/base/random.ts';

/** Without letters that look like others. */
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

/** A code as people read it: in two groups. */
export const shownRecoveryCode = (code: string): string =>
  `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;

/** Reads a code that somebody typed, with any spaces and dashes; undefined: it cannot be one. */
export function readRecoveryCode(typed: string): string | undefined {
  const upper = typed.replaceAll(/[\s-]/g, '').toUpperCase();
  // People write letters in place of the digits that they look like.
  const code = upper.replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  return CODE.test(code) ? code : undefined;
}

/** The store keeps a MAC of each code under the master secret, so that a copy of the store alone tells no code. */
export const recoveryMac = (master: Buffer, accountId: string, code: string): string =>
  createHmac('sha256', derivedKey(master, 'countersign second factor recovery'))
    .update(JSON.stringify([accountId, code]))
    .digest('base64url');
