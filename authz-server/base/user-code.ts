/** The longest input that is read as a code of eight letters. */
const LONGEST = 64;
/** The pattern does not use the Unicode folding of the i flag: only ASCII letters can be letters of a code. */
const OTHER = /[^BCDFGHJKLMNPQRSTVWXZ]/gi;
const LENGTH = 8;

/**
 * Returns a user code as it is stored: in upper case, without dashes and other characters outside the alphabet of codes
 * (RFC 8628 section 6.1). Returns undefined if the input cannot be a code.
 */
export function normaliseUserCode(typed: string): string | undefined {
  if (typed.length > LONGEST) return undefined;
  const code = typed.replaceAll(OTHER, '').toUpperCase();
  return code.length === LENGTH ? code : undefined;
}

/** Returns a normalised code as the device shows it: ABCD-EFGH. */
export function displayUserCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}
