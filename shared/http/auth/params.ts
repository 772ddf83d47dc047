import { COMMAS, type Scanner, TOKEN } from '../scanner.ts';
import type { AuthParams } from './challenge.ts';

const TOKEN68 = /[0-9A-Za-z._~+/-]+=*/y;
const EQUALS = /[ \t]*=[ \t]*/y;

/** token68 (RFC 9110 section 11.2), unless what is here is the name of a parameter. */
export function readToken68(scanner: Scanner): string | undefined {
  const start = scanner.at;
  const token68 = scanner.read(TOKEN68);
  if (token68 !== undefined && scanner.delimited) return token68;
  scanner.at = start;
  return undefined;
}

/**
 * `#auth-param` (RFC 9110 section 11.2), up to the first list element that is not a parameter.
 * Undefined when a value is malformed or a name comes twice. The result inherits nothing, so that
 * a parameter called `constructor` is absent unless it was sent. `unquoted`: by name, what a value may
 * look like, instead of a token, when it is not quoted.
 */
export function readParams(
  scanner: Scanner,
  unquoted?: ReadonlyMap<string, RegExp>,
): AuthParams | undefined {
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
