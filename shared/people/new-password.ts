import type { Random } from '#shared/base/random.ts';

/** 32 characters that are easy to distinguish. */
const CHARACTERS = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Creates a password of 100 random bits that is easy to read out and to type: `k3xpa-9mwde-...`. */
export function newPassword(random: Random): string {
  const characters = Array.from(random(20), (byte) => CHARACTERS.charAt(byte % CHARACTERS.length));
  return (characters.join('').match(/.{5}/g) ?? []).join('-');
}
