import { parseHttpDate } from '#shared/http/date.ts';

/**
 * Parses an HTTP-date, whose case does not matter (RFC 9111 section 4.2), to milliseconds since the epoch. `now`: as in
 * `parseHttpDate`.
 */
export function parseDate(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const capitalised = value.toLowerCase().replaceAll(/\b[a-z]/g, (first) => first.toUpperCase());
  return parseHttpDate(capitalised.replace(/Gmt$/, 'GMT'), now);
}
