/** UTF-16 code units; what is longer is refused before any work is done on it. */
const INPUT = 1024;

/** Bytes of a password. */
const LEAST = 8;
const MOST = 1024;

/**
 * A name as it is compared and kept (RFC 8265 section 3.3, UsernameCaseMapped): compatibility forms
 * and cases are one. Undefined: not 1 to 64 letters, digits and . _ @ + -
 */
export function usernameCaseMapped(name: string): string | undefined {
  if (name.length > INPUT) return undefined;
  const mapped = name.normalize('NFKC').toLowerCase().normalize('NFKC');
  return /^[\p{L}\p{Nd}._@+-][\p{L}\p{M}\p{Nd}._@+-]{0,63}$/u.test(mapped) ? mapped : undefined;
}

/**
 * A password as it is hashed (RFC 8265 section 4.2, OpaqueString). Undefined: empty, over 1024 bytes,
 * or with control characters, lone surrogates or unassigned code points, which no password has.
 */
export function opaqueString(password: string): string | undefined {
  if (password.length > INPUT) return undefined;
  const enforced = password.replace(/\p{Zs}/gu, ' ').normalize('NFC');
  const acceptable = enforced !== '' && !/[\p{Cc}\p{Cs}\p{Cn}]/u.test(enforced);
  return acceptable && Buffer.byteLength(enforced) <= MOST ? enforced : undefined;
}

/** The same for a password that is being set: at least 8 bytes. */
export function newOpaqueString(password: string): string | undefined {
  const enforced = opaqueString(password);
  return enforced !== undefined && Buffer.byteLength(enforced) >= LEAST ? enforced : undefined;
}
