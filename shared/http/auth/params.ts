import { COMMAS, type Scanner, TOKEN } from '../scanner.ts';

/** Parameters of a challenge or of credentials (RFC 9110 section 11.2); names in lower case. */
export type AuthParams = Readonly<Record<string, string>>;

/** RFC 7804 section 7 does not quote base64, although it is no token. */
const SCRAM: ReadonlyMap<string, RegExp> = new Map([['data', /[A-Za-z0-9+/]+={0,2}/y]]);

/** RFC 9577 section 2.2.2 requires padding but no quotes, although `=` is not allowed in a token. */
const PRIVATE_TOKEN: ReadonlyMap<string, RegExp> = new Map([['token', /[A-Za-z0-9_-]+={0,2}/y]]);

/** Parameters whose unquoted values are not tokens, by scheme. */
const UNQUOTED: ReadonlyMap<string, ReadonlyMap<string, RegExp>> = new Map([
  ['scram-sha-256', SCRAM],
  ['scram-sha-1', SCRAM],
  ['privatetoken', PRIVATE_TOKEN],
]);

const TOKEN68 = /[0-9A-Za-z._~+/-]+=*/y;
const EQUALS = /[ \t]*=[ \t]*/y;

/** Reads a token68 (RFC 9110 section 11.2), unless the text is the name of a parameter. */
export function readToken68(scanner: Scanner): string | undefined {
  const start = scanner.at;
  const token68 = scanner.read(TOKEN68);
  if (token68 !== undefined && scanner.delimited) return token68;
  scanner.at = start;
  return undefined;
}

/**
 * Reads `#auth-param` (RFC 9110 section 11.2), up to the first list element that is not a parameter. Returns
 * undefined if a value is malformed or a name comes twice. The result inherits nothing, so that a parameter called
 * `constructor` is absent unless it was sent. `scheme`: in lower case.
 */
export function readParams(scanner: Scanner, scheme: string): AuthParams | undefined {
  const unquoted = UNQUOTED.get(scheme);
  const params = Object.create(null) as Record<string, string>;
  for (let first = true; first || !scanner.done; first = false) {
    const start = scanner.at;
    const separated = scanner.read(COMMAS) !== undefined;
    const name = first || separated ? scanner.read(TOKEN)?.toLowerCase() : undefined;
    if (name === undefined || scanner.read(EQUALS) === undefined) {
      scanner.at = start;
      break;
    }
    const value = scanner.read(unquoted?.get(name) ?? TOKEN) ?? scanner.quotedString();
    if (value === undefined || name in params || !scanner.delimited) return undefined;
    params[name] = value;
  }
  return params;
}
