import { COMMAS, Scanner, TOKEN } from '../scanner.ts';
import { readParams, readToken68 } from './params.ts';

/** Parameters of a challenge or of credentials (RFC 9110 section 11.2); names in lower case. */
export type AuthParams = Readonly<Record<string, string>>;

/** A challenge (RFC 9110 section 11.3): one scheme, and either a token68 or parameters. */
export interface Challenge {
  /** As registered at IANA, for example `Bearer`. */
  readonly scheme: string;
  readonly token68?: string;
  readonly params?: AuthParams;
}

/** Parameters that a sender must not quote, by scheme; all others are quoted (RFC 9110 section 11.5). */
const UNQUOTED: ReadonlyMap<string, readonly string[]> = new Map([
  ['digest', ['stale', 'algorithm']], // RFC 7616 section 3.3
]);

const SPACES = / +/y;
const WHOLE_TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const WHOLE_TOKEN68 = /^[0-9A-Za-z._~+/-]+=*$/;
const QUOTABLE = /^[ -~\x80-\xff]*$/;

function checked(value: string, grammar: RegExp, what: string): string {
  if (!grammar.test(value)) throw new TypeError(`${what} cannot be part of a challenge`);
  return value;
}

function formatParam(scheme: string, [name, value]: [string, string]): string {
  checked(name, WHOLE_TOKEN, 'parameter name');
  return UNQUOTED.get(scheme.toLowerCase())?.includes(name)
    ? `${name}=${checked(value, WHOLE_TOKEN, name)}`
    : `${name}="${checked(value, QUOTABLE, name).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/**
 * The value of one WWW-Authenticate or Proxy-Authenticate line (RFC 9110 section 11.6.1).
 * Throws TypeError for what has no place in a field, such as CR, LF and other control characters.
 */
export function formatChallenge({ scheme, token68, params }: Challenge): string {
  checked(scheme, WHOLE_TOKEN, 'scheme');
  if (token68 !== undefined) return `${scheme} ${checked(token68, WHOLE_TOKEN68, 'token68')}`;
  const list = Object.entries(params ?? {}).map((param) => formatParam(scheme, param));
  return list.length === 0 ? scheme : `${scheme} ${list.join(', ')}`;
}

/**
 * Parses the value of WWW-Authenticate or Proxy-Authenticate: `#challenge` (RFC 9110 section
 * 11.6.1). Several lines are joined with `, ` first. Undefined when it is malformed.
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
    const params = more && token68 === undefined ? readParams(scanner) : {};
    if (params === undefined) return undefined;
    if (token68 !== undefined) challenges.push({ scheme, token68 });
    else challenges.push(Object.keys(params).length === 0 ? { scheme } : { scheme, params });
    if (scanner.read(COMMAS) === undefined && !scanner.done) return undefined;
  }
  return challenges;
}
