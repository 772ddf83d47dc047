import type { NumberFormat } from './algorithms.ts';

/**
 * Parses a number of exactly this many octets (RFC 8120 section 3.2.3). Returns undefined for anything else, such as
 * another padding or spare bits that are not zero. Hexadecimal digits may have either case.
 */
export function parseFixedNumber(
  format: NumberFormat,
  text: string,
  octets: number,
): Buffer | undefined {
  const bytes = Buffer.from(text, format);
  const same = format === 'hex' ? text.toLowerCase() : text;
  return bytes.length === octets && bytes.toString(format) === same ? bytes : undefined;
}
