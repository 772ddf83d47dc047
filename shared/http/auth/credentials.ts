import { COMMAS, Scanner, TOKEN } from '../scanner.ts';
import type { AuthParams } from './challenge.ts';
import { readParams, readToken68 } from './params.ts';

/** Credentials (RFC 9110 section 11.4). `scheme` in lower case: it is compared without regard to case. */
export interface Credentials {
  readonly scheme: string;
  /** All after the scheme and its spaces, as received. */
  readonly rest: string;
  readonly token68?: string;
  readonly params?: AuthParams;
}

const SPACES = / +/y;

/** RFC 7804 section 7 does not quote base64, and gel does as it says, though that is no token. */
const SCRAM: ReadonlyMap<string, RegExp> = new Map([['data', /[A-Za-z0-9+/]+={0,2}/y]]);

/** RFC 9577 section 2.2.2 demands padding, and not the quotes without which `=` has no place in a token. */
const PRIVATE_TOKEN: ReadonlyMap<string, RegExp> = new Map([['token', /[A-Za-z0-9_-]+={0,2}/y]]);

/** By scheme, parameters whose unquoted values are not tokens. */
const UNQUOTED: ReadonlyMap<string, ReadonlyMap<string, RegExp>> = new Map([
  ['scram-sha-256', SCRAM],
  ['scram-sha-1', SCRAM],
  ['privatetoken', PRIVATE_TOKEN],
]);

/**
 * Parses the value of Authorization or Proxy-Authorization (RFC 9110 section 11.4).
 * Undefined when it is malformed; a parameter that comes twice is (section 11.2).
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
  const params = readParams(scanner, UNQUOTED.get(scheme));
  scanner.read(COMMAS);
  return params !== undefined && scanner.done ? { scheme, rest, params } : undefined;
}
