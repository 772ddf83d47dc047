/** Longest input in UTF-16 code units; longer input is refused before any work. */
const INPUT = 1024;

/** Most octets of a password. */
export const LONGEST_PASSWORD = 1024;

/**
 * Returns a name in the form that is compared and stored (RFC 8265 section 3.3, UsernameCaseMapped): compatibility
 * forms and cases are equal. Returns undefined unless it has 1 to 64 letters, digits and . _ @ + -
 */
export function usernameCaseMapped(name: string): string | undefined {
  if (name.length > INPUT) return undefined;
  const mapped = name.normalize('NFKC').toLowerCase().normalize('NFKC');
  return /^[\p{L}\p{Nd}._@+-][\p{L}\p{M}\p{Nd}._@+-]{0,63}$/u.test(mapped) ? mapped : undefined;
}

/**
 * Returns a password in the form that is hashed (RFC 8265 section 4.2, OpaqueString). Returns undefined if it is
 * empty, over 1024 bytes, or has control characters, lone surrogates or unassigned code points.
 */
export function opaqueString(password: string): string | undefined {
  if (password.length > INPUT) return undefined;
  const enforced = password.replace(/\p{Zs}/gu, ' ').normalize('NFC');
  const acceptable = enforced !== '' && !/[\p{Cc}\p{Cs}\p{Cn}]/u.test(enforced);
  return acceptable && Buffer.byteLength(enforced) <= LONGEST_PASSWORD ? enforced : undefined;
}
