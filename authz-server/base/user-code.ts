/** The longest text that counts as an attempt at a code of eight letters. */
const LONGEST = 64;
/** Without the i flag's Unicode folding: only ASCII letters are letters of a code. */
const OTHER = /[^BCDFGHJKLMNPQRSTVWXZ]/gi;
const LENGTH = 8;

/**
 * A user code as it is stored: upper case, without dashes and whatever else does not belong to the
 * alphabet of codes (RFC 8628 section 6.1). Undefined: it can be no code.
 */
export function normaliseUserCode(typed: string): string | undefined {
  if (typed.length > LONGEST) return undefined;
  const code = typed.replaceAll(OTHER, '').toUpperCase();
  return code.length === LENGTH ? code : undefined;
}

/** A normalised code as the device shows it: ABCD-EFGH. */
export function displayUserCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}
