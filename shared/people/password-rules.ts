import { COMMONEST, isCommonPassword } from './common-passwords.ts';
import { LONGEST_PASSWORD, opaqueString } from './names/precis.ts';
import type { Words } from '#shared/refusals/words.ts';
import { said } from '#shared/refusals/operations.ts';

/** Least characters of a new password, counted in code points. */
export const LEAST_CHARACTERS = 8;

/** The faults of a new password, in words for an operator. */
export const PASSWORD_FAULTS = {
  short: said('password-short', { least: LEAST_CHARACTERS }),
  long: said('password-long', { most: LONGEST_PASSWORD.toLocaleString('en') }),
  characters: said('password-characters'),
  common: said('password-common', { count: COMMONEST.toLocaleString('en') }),
} as const satisfies Readonly<Record<string, Words>>;

export type PasswordFault = keyof typeof PASSWORD_FAULTS;

/** Judges a new password. `enforced` is the form of the password that is hashed (RFC 8265 section 4.2). */
export async function judgePassword(
  password: string,
): Promise<{ readonly enforced: string } | { readonly fault: PasswordFault }> {
  const enforced = opaqueString(password);
  if (enforced === undefined) return { fault: faultOf(password) };
  if (Array.from(enforced).length < LEAST_CHARACTERS) return { fault: 'short' };
  if (await isCommonPassword(enforced)) return { fault: 'common' };
  return { enforced };
}

/** Returns the fault of a text that cannot be a password. */
function faultOf(password: string): PasswordFault {
  if (password === '') return 'short';
  return Buffer.byteLength(password) > LONGEST_PASSWORD ? 'long' : 'characters';
}
