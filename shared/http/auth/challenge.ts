import { COMMAS, Scanner, TOKEN } from '../scanner.ts';
import { type AuthParams, readParams, readToken68 } from './params.ts';

/** A challenge (RFC 9110 section 11.3): one scheme, and either a token68 or parameters. */
export interface Challenge {
  /** The scheme's name as registered at IANA, for example `Bearer`. */
  readonly scheme: string;
  readonly token68?: string;
  readonly params?: AuthParams;
}

const SPACES = / +/y;
const WHOLE_TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The parameters that are written without quotes, by scheme and name. All other parameters have quotes (RFC 9110
 * section 11.5).
 */
type Unquoted = ReadonlyMap<string, ReadonlyMap<string, RegExp>>;

const tokens = (...names: string[]) => new Map(names.map((name) => [name, WHOLE_TOKEN]));

/** RFC 7804 section 7: base64 has no quotes, although it is no token. */
const SCRAM = tokens('sid', 'sr', 'ttl', 'stale').set('data', BASE64);
/** Mutual's values are in base64 with quotes, or in hexadecimal without quotes (RFC 8120 section 3.2.3). */
const HEX = /^[0-9a-f]+$/;
const MUTUAL_TOKENS = 'version algorithm validation reason sid nc-max nc-window time'.split(' ');
const MUTUAL = tokens(...MUTUAL_TOKENS)
  .set('ks1', HEX)
  .set('vks', HEX);
const SCRAMS = [
  ['scram-sha-256', SCRAM],
  ['scram-sha-1', SCRAM],
] as const;

/**
 * RFC 7616 section 3.3 forbids quotes around the first two parameters, and its section 3.9.2 has none around the
 * other two.
 */
const IN_CHALLENGE: Unquoted = new Map([
  ['digest', tokens('stale', 'algorithm', 'charset', 'userhash')],
  ['mutual', MUTUAL],
  ...SCRAMS,
]);

/** RFC 7616 section 3.5, RFC 8120 section 4.5. */
const IN_INFO: Unquoted = new Map([['digest', tokens('qop', 'nc')], ['mutual', MUTUAL], ...SCRAMS]);

const WHOLE_TOKEN68 = /^[0-9A-Za-z._~+/-]+=*$/;
const QUOTABLE = /^[ -~\x80-\xff]*$/;

function checked(value: string, grammar: RegExp, what: string): string {
  if (!grammar.test(value)) throw new TypeError(`${what} cannot be part of a challenge`);
  return value;
}

function formatParams(scheme: string, params: AuthParams, unquoted: Unquoted): string {
  const grammars = unquoted.get(scheme.toLowerCase());
  const formatted = Object.entries(params).map(([name, value]) => {
    checked(name, WHOLE_TOKEN, 'parameter name');
    const grammar = grammars?.get(name);
    return grammar && (grammar !== HEX || HEX.test(value))
      ? `${name}=${checked(value, grammar, name)}`
      : `${name}="${checked(value, QUOTABLE, name).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  });
  return formatted.join(', ');
}

/**
 * Returns the value of one WWW-Authenticate or Proxy-Authenticate line (RFC 9110 section 11.6.1). Throws TypeError
 * for characters that a field cannot have, such as CR, LF and other control characters.
 */
export function formatChallenge({ scheme, token68, params }: Challenge): string {
  checked(scheme, WHOLE_TOKEN, 'scheme');
  if (token68 !== undefined) return `${scheme} ${checked(token68, WHOLE_TOKEN68, 'token68')}`;
  const list = formatParams(scheme, params ?? {}, IN_CHALLENGE);
  return list === '' ? scheme : `${scheme} ${list}`;
}

/**
 * Returns the value of Authentication-Info or Proxy-Authentication-Info (RFC 9110 section 11.6.3), in which the
 * scheme's name does not appear. Throws TypeError like `formatChallenge`.
 */
export function formatInfo(scheme: string, params: AuthParams): string {
  return formatParams(scheme, params, IN_INFO);
}

/**
 * Parses the value of WWW-Authenticate or Proxy-Authenticate: `#challenge` (RFC 9110 section 11.6.1). The caller
 * joins several lines with `, ` first. Returns undefined if the value is malformed.
 */
export function parseChallenges(value: string): Challenge[] | undefined {
  const scanner = new Scanner(value);
  const challenges: Challenge[] = [];
  scanner.read(COMMAS);
  while (!scanner.done) {
    const scheme = scanner.read(TOKEN);
    if (scheme === undefined) return undefined;
    const more = scanner.read(SPACES) !== undefined;
    const token68 = more ? readToken68(scanner) : undefined;
    const params = more && token68 === undefined ? readParams(scanner, scheme.toLowerCase()) : {};
    if (params === undefined) return undefined;
    if (token68 !== undefined) challenges.push({ scheme, token68 });
    else challenges.push(Object.keys(params).length === 0 ? { scheme } : { scheme, params });
    if (scanner.read(COMMAS) === undefined && !scanner.done) return undefined;
  }
  return challenges;
}
