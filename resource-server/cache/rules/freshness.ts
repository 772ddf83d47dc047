import type { Stored } from './stored.ts';
import { type Control, controlOf } from './control.ts';
import { parseDate } from './dates.ts';
import { FOREVER } from './directives.ts';
import { onlyOf, valuesOf } from './lines.ts';
import type { Given, Rules, Times } from './rules.ts';
import { HEURISTIC } from './statuses.ts';

/** The properties of a stored answer that are computed once for all requests. All times are seconds. */
export interface Policy {
  /** The freshness lifetime (RFC 9111 section 4.2.1). */
  readonly lifetime: number;
  /** Whether the application gave the lifetime explicitly. */
  readonly explicit: boolean;
  /**
   * The corrected initial age (RFC 9111 section 4.2.3), and the time of its computation, in milliseconds since the
   * epoch.
   */
  readonly initialAge: number;
  readonly received: number;
  /** Whether each use needs a validation (RFC 9111 section 5.2.2.4). */
  readonly noCache: boolean;
  /** Whether stale use is forbidden, whatever a client allows (RFC 9111 section 4.2.4). */
  readonly neverStale: boolean;
  /** Seconds of stale use during a background refresh (RFC 5861 section 3), or after an error (section 4). */
  readonly whileRevalidating: number;
  readonly ifError: number;
}

export function policyOf(stored: Given & Times, rules: Rules): Policy {
  const { directives, targeted } = controlOf(stored.lines, rules.targeted);
  const { flags, seconds } = directives;
  const explicit = explicitLifetime(stored, { directives, targeted }, rules);
  const noCache = flags.has('no-cache');
  return {
    lifetime: explicit ?? heuristicLifetime(stored, flags.has('public'), rules),
    explicit: explicit !== undefined,
    initialAge: ageAtFirst(stored),
    received: stored.received,
    noCache,
    neverStale:
      noCache ||
      flags.has('must-revalidate') ||
      (rules.shared && (flags.has('proxy-revalidate') || seconds.has('s-maxage'))),
    whileRevalidating: seconds.get('stale-while-revalidate') ?? 0,
    ifError: seconds.get('stale-if-error') ?? 0,
  };
}

/** Returns the current age (RFC 9111 section 4.2.3) in seconds. `now`: in milliseconds since the epoch. */
export function ageOf({ initialAge, received }: Policy, now: number): number {
  return Math.floor(initialAge + Math.max(0, now - received) / 1000);
}

/** The first of s-maxage, max-age and Expires (RFC 9111 section 4.2.1). */
function explicitLifetime(
  { lines, received }: Given & Times,
  { directives: { seconds }, targeted }: Control,
  { shared }: Rules,
): number | undefined {
  const told = (shared ? seconds.get('s-maxage') : undefined) ?? seconds.get('max-age');
  if (told !== undefined || targeted) return told;
  const [expires, ...more] = valuesOf(lines, 'expires');
  if (expires === undefined) return undefined;
  // Malformed values, and repeated values that differ, mean expired (RFC 9111 section 5.3).
  const end = more.every((other) => other === expires) ? parseDate(expires, received) : undefined;
  if (end === undefined) return 0;
  return Math.max(0, Math.floor((end - dateOf({ lines, received })) / 1000));
}

/** A tenth of the time since the last modification, at most a day (RFC 9111 section 4.2.2). */
function heuristicLifetime(
  { status, lines, received }: Given & Times,
  isPublic: boolean,
  { heuristic }: Rules,
): number {
  if (!heuristic || !(isPublic || HEURISTIC.has(status))) return 0;
  const modified = parseDate(onlyOf(lines, 'last-modified'), received);
  if (modified === undefined) return 0;
  const unchanged = (dateOf({ lines, received }) - modified) / 1000;
  return Math.min(Math.max(0, Math.floor(unchanged / 10)), 86_400);
}

/** The greater of the two ages of RFC 9111 section 4.2.3. */
function ageAtFirst({ lines, requested, received }: Given & Times): number {
  const second = Math.floor(received / 1000); // Date has a resolution of one second
  const apparent = Math.max(0, second - dateOf({ lines, received: second * 1000 }) / 1000);
  return Math.max(apparent, ageValue(valuesOf(lines, 'age')) + (received - requested) / 1000);
}

/** Returns the first member of Age, unless it is no delta-seconds (RFC 9111 section 5.1). */
function ageValue([age = '']: readonly string[]): number {
  const first = /^[ \t]*(\d+)[ \t]*(?:,|$)/.exec(age)?.[1];
  return first === undefined ? 0 : Math.min(Number(first), FOREVER);
}

/**
 * Returns the Date of an answer, or its arrival without Date (RFC 9110 section 6.6.1), in milliseconds since the epoch.
 */
export function dateOf({ lines, received }: Pick<Stored, 'lines' | 'received'>): number {
  return parseDate(onlyOf(lines, 'date'), received) ?? received;
}
