import { firstParts, MOST_MEMBERS } from '#shared/http/fields.ts';
import { Scanner, TOKEN } from '#shared/http/scanner.ts';

/** The directives of Cache-Control (RFC 9111 section 5.2), or of a similar field. All names are in lower case. */
export interface Directives {
  /** The names of directives without a place in `seconds` or `fields`. */
  readonly flags: ReadonlySet<string>;
  /** Directives with delta-seconds. */
  readonly seconds: ReadonlyMap<string, number>;
  /** `no-cache` and `private` with a list of fields, to which alone they apply (sections 5.2.2.4 and 5.2.2.7). */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>;
}

/** An argument as it came. True: no argument. Undefined: malformed. */
export type Argument = string | true | undefined;

/** The longest time; greater values are reduced to it (RFC 9111 section 1.2.2). */
export const FOREVER = 2 ** 31;

interface Delta {
  /** Replaces invalid delta-seconds: the most restrictive value (RFC 9111 section 4.2.1). */
  readonly invalid: number;
  /** The value of a directive without an argument. */
  readonly bare: number;
  /** Returns the stricter value if a directive came twice. */
  readonly stricter: (one: number, other: number) => number;
}

const NONE: Delta = { invalid: 0, bare: 0, stricter: Math.min };

const DELTAS: ReadonlyMap<string, Delta> = new Map([
  ['max-age', NONE],
  ['s-maxage', NONE],
  ['stale-while-revalidate', NONE],
  ['stale-if-error', NONE],
  ['max-stale', { ...NONE, bare: FOREVER }], // RFC 9111 section 5.2.1.2: without a value, max-stale allows any time
  ['min-fresh', { invalid: FOREVER, bare: FOREVER, stricter: Math.max }],
]);

/** Directives that permit more storing or reuse. */
const PERMITTING = new Set(['public', 'must-understand', 'must-revalidate', 's-maxage']);

/** Directives whose argument lists fields. */
const QUALIFIED = new Set(['no-cache', 'private']);

const EQUALS = /=/y;
const BETWEEN = /[ \t,]*/y;
const REST = /[^,]*/y;

/** Replaces the directives beyond the limit, which are not read. */
const STRICTEST = [
  ['no-store', true],
  ['no-cache', true],
] as const;

/**
 * Parses the lines of Cache-Control, of a request or an answer. A malformed directive gets its strictest meaning.
 * Beyond 1,024 directives the strictest ones are assumed.
 */
export function parseDirectives(values: readonly string[]): Directives {
  const given = firstParts(values, elements, MOST_MEMBERS + 1);
  return directivesOf(
    given.length > MOST_MEMBERS ? [...given.slice(0, MOST_MEMBERS), ...STRICTEST] : given,
  );
}

/**
 * Makes directives from names and arguments in lower case. If directives repeat or contradict each other, the stricter
 * one applies.
 */
export function directivesOf(given: Iterable<readonly [name: string, Argument]>): Directives {
  const flags = new Set<string>();
  const seconds = new Map<string, number>();
  const fields = new Map<string, Set<string>>();
  for (const [name, argument] of given) {
    const delta = DELTAS.get(name);
    // Ignores a permission that is malformed, or has an argument that no standard defines (RFC 9111 section 5.2.2).
    if (
      PERMITTING.has(name) &&
      (delta === undefined ? argument !== true : argument === undefined)
    ) {
      flags.add('no-cache');
      continue;
    }
    const listed = QUALIFIED.has(name) ? fieldNames(argument) : undefined;
    if (delta !== undefined) {
      const value = secondsOf(argument, delta);
      seconds.set(name, delta.stricter(value, seconds.get(name) ?? value));
    } else if (listed === undefined) flags.add(name);
    else fields.set(name, new Set([...listed, ...(fields.get(name) ?? [])]));
  }
  for (const name of flags) fields.delete(name);
  return { flags, seconds, fields };
}

/** After a quote without an end, a directive may be quoted text. Its restrictions apply, and its permissions do not. */
function* elements(value: string): Generator<readonly [string, Argument]> {
  const scanner = new Scanner(value);
  let doubtful = false;
  for (;;) {
    scanner.read(BETWEEN);
    if (scanner.done) return;
    const name = scanner.read(TOKEN);
    const argued = scanner.read(EQUALS) !== undefined;
    const argument = argued ? (scanner.read(TOKEN) ?? scanner.quotedString()) : true;
    const whole = scanner.delimited && !doubtful;
    if (name !== undefined) yield [name.toLowerCase(), whole ? argument : undefined];
    const rest = scanner.read(REST);
    doubtful ||= rest?.includes('"') === true;
  }
}

function secondsOf(argument: Argument, { invalid, bare }: Delta): number {
  if (argument === true) return bare;
  if (argument === undefined || !/^\d+$/.test(argument)) return invalid;
  return Math.min(Number(argument), FOREVER);
}

/** Undefined: names are missing or malformed, so that the directive applies to the whole answer. */
function fieldNames(argument: Argument): readonly string[] | undefined {
  if (typeof argument !== 'string') return undefined;
  const names = argument
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length > 0 && names.every((name) => FIELD_NAME.test(name)) ? names : undefined;
}

const FIELD_NAME = new RegExp(`^${TOKEN.source}$`);
