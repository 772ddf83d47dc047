import { COMMAS, Scanner, TOKEN } from '../scanner.ts';
import type { AuthParams } from './params.ts';
import { readParams, readToken68 } from './params.ts';

/**
 * Credentials (RFC 9110 section 11.4). `scheme` is in lower case, since schemes are compared without regard to case.
 */
export interface Credentials {
  readonly scheme: string;
  /** The text after the scheme and its spaces, as received. */
  readonly rest: string;
  readonly token68?: string;
  readonly params?: AuthParams;
}

const SPACES = / +/y;

/**
 * Parses the value of Authorization or Proxy-Authorization (RFC 9110 section 11.4). Returns undefined if it is
 * malformed; a repeated parameter is malformed, too (section 11.2).
 */
export function parseCredentials(value: string): Credentials | undefined {
  const scanner = new Scanner(value);
  const scheme = scanner.read(TOKEN)?.toLowerCase();
  if (scheme === undefined) return undefined;
  if (scanner.done) return { scheme, rest: '' };
  if (scanner.read(SPACES) === undefined) return undefined;
  const rest = value.slice(scanner.at);
  const token68 = readToken68(scanner);
  if (token68 !== undefined) return scanner.done ? { scheme, rest, token68 } : undefined;
  const params = readParams(scanner, scheme);
  scanner.read(COMMAS);
  return params !== undefined && scanner.done ? { scheme, rest, params } : undefined;
}
