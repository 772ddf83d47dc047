import { firstParts, MOST_MEMBERS } from '#shared/http/fields.ts';
import { Scanner, TOKEN } from '#shared/http/scanner.ts';

/** The directives of Cache-Control (RFC 9111 section 5.2), or of a field like it. All names are in lower case. */
export interface Directives {
  /** Those that were there, but for the ones below. */
  readonly flags: ReadonlySet<string>;
  /** Those with delta-seconds. */
  readonly seconds: ReadonlyMap<string, number>;
  /** `no-cache` and `private` that are about the fields listed alone (sections 5.2.2.4 and 5.2.2.7). */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>;
}

/** As it came: true without an argument; undefined: with one that is malformed. */
export type Argument = string | true | undefined;

/** Longer times count as this (RFC 9111 section 1.2.2). */
export const FOREVER = 2 ** 31;

interface Delta {
  /** In place of what is no delta-seconds: as restrictive as can be (RFC 9111 section 4.2.1). */
  readonly invalid: number;
  /** Without an argument. */
  readonly bare: number;
  /** Returns the stricter one if a directive came twice. */
  readonly stricter: (one: number, other: number) => number;
}

const NONE: Delta = { invalid: 0, bare: 0, stricter: Math.min };

const DELTAS: ReadonlyMap<string, Delta> = new Map([
  ['max-age', NONE],
  ['s-maxage', NONE],
  ['stale-while-revalidate', NONE],
  ['stale-if-error', NONE],
  ['max-stale', { ...NONE, bare: FOREVER }], // RFC 9111 section 5.2.1.2
  ['min-fresh', { invalid: FOREVER, bare: FOREVER, stricter: Math.max }],
]);

/** Those that let more be stored or used. */
const PERMITTING = new Set(['public', 'must-understand', 'must-revalidate', 's-maxage']);

/** Those whose argument lists fields. */
const QUALIFIED = new Set(['no-cache', 'private']);

const EQUALS = /=/y;
const BETWEEN = /[ \t,]*/y;
const REST = /[^,]*/y;

/** In place of what nobody reads. */
const STRICTEST = [
  ['no-store', true],
  ['no-cache', true],
] as const;

/**
 * The lines of Cache-Control, of a request or of an answer. What is malformed counts as the strictest that it can be,
 * and so does what follows 1,024 directives.
 */
export function parseDirectives(values: readonly string[]): Directives {
  const given = firstParts(values, elements, MOST_MEMBERS + 1);
  return directivesOf(
    given.length > MOST_MEMBERS ? [...given.slice(0, MOST_MEMBERS), ...STRICTEST] : given,
  );
}

/** From names and arguments, in lower case; where directives come twice or contradict, the stricter counts. */
export function directivesOf(given: Iterable<readonly [name: string, Argument]>): Directives {
  const flags = new Set<string>();
  const seconds = new Map<string, number>();
  const fields = new Map<string, Set<string>>();
  for (const [name, argument] of given) {
    const delta = DELTAS.get(name);
    // A permission that is malformed, or has an argument that none is defined for (RFC 9111 section 5.2.2).
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

/** Behind a quote that nobody can tell the end of a directive may be text: it restricts, and permits nothing. */
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

/** Undefined: there are none, or they are malformed, so that the directive is about all of the answer. */
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
