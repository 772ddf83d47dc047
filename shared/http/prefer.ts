import { firstMembers, lines } from './fields.ts';
import { Scanner, TOKEN } from './scanner.ts';

const OWS = /[ \t]*/y;
const EQUALS = /[ \t]*=[ \t]*/y;
const END = /;|$/y;

interface Preference {
  readonly name: string;
  /** The value; empty if the preference has none. */
  readonly value: string;
}

/** Reads a preference (RFC 7240 section 2), without its parameters. Returns undefined if it is malformed. */
function preferenceIn(member: string): Preference | undefined {
  const scanner = new Scanner(member);
  const name = scanner.read(TOKEN)?.toLowerCase();
  if (name === undefined) return undefined;
  const hasValue = scanner.read(EQUALS) !== undefined;
  const value = hasValue ? (scanner.quotedString() ?? scanner.read(TOKEN)) : undefined;
  scanner.read(OWS);
  return scanner.read(END) === undefined ? undefined : { name, value: value ?? '' };
}

/**
 * Returns the values of a preference among the first 1,024 members, including empty values. Throws `BadRequest` if a
 * line is no list.
 */
function valuesOf(raw: readonly string[], name: string): readonly string[] {
  return firstMembers(lines(raw, 'prefer'))
    .flatMap((member) => preferenceIn(member) ?? [])
    .flatMap((found) => (found.name === name ? found.value : []));
}

/** The kind of answer to a write that a client prefers (RFC 7240 section 4.2). */
export type PreferredReturn = 'representation' | 'minimal';

/**
 * Returns the preference `return` of a request. Any other value is ignored. If there are several preferences, the
 * first applies (RFC 7240 section 2); if both values occur, none (section 4.2). Throws `BadRequest` if a line is no
 * list.
 */
export function preferredReturn(raw: readonly string[]): PreferredReturn | undefined {
  const asked = valuesOf(raw, 'return').map((value) => value.toLowerCase());
  if (asked.includes('representation') && asked.includes('minimal')) return undefined;
  const [first] = asked;
  return first === 'representation' || first === 'minimal' ? first : undefined;
}

/**
 * Returns the value of a preference of a request, empty if it has none; undefined without the preference. If there
 * are several, the first applies (RFC 7240 section 2). Throws `BadRequest` if a line is no list.
 */
export function preference(raw: readonly string[], name: string): string | undefined {
  return valuesOf(raw, name)[0];
}
