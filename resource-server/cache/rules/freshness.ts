import type { Stored } from './stored.ts';
import { type Control, controlOf } from './control.ts';
import { parseDate } from './dates.ts';
import { FOREVER } from './directives.ts';
import { onlyOf, valuesOf } from './lines.ts';
import type { Given, Rules, Times } from './rules.ts';
import { HEURISTIC } from './statuses.ts';

/** The properties of a stored answer that are computed once for all requests. All times are seconds. */
export interface Policy {
  /** Freshness lifetime (RFC 9111 section 4.2.1). */
  readonly lifetime: number;
  /** Whether the server said so itself. */
  readonly explicit: boolean;
  /** Corrected initial age (RFC 9111 section 4.2.3), and when that was, in milliseconds since the epoch. */
  readonly initialAge: number;
  readonly received: number;
  /** Validated before each use (RFC 9111 section 5.2.2.4). */
  readonly noCache: boolean;
  /** Never used stale, no matter who allows it (RFC 9111 section 4.2.4). */
  readonly neverStale: boolean;
  /** How long it may be used stale while somebody asks for another (RFC 5861 section 3), or if that fails (section 4). */
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

/** Current age (RFC 9111 section 4.2.3) in seconds, at `now` in milliseconds since the epoch. */
export function ageOf({ initialAge, received }: Policy, now: number): number {
  return Math.floor(initialAge + Math.max(0, now - received) / 1000);
}

/** RFC 9111 section 4.2.1: the first of s-maxage, max-age and Expires. */
function explicitLifetime(
  { lines, received }: Given & Times,
  { directives: { seconds }, targeted }: Control,
  { shared }: Rules,
): number | undefined {
  const told = (shared ? seconds.get('s-maxage') : undefined) ?? seconds.get('max-age');
  if (told !== undefined || targeted) return told;
  const [expires, ...more] = valuesOf(lines, 'expires');
  if (expires === undefined) return undefined;
  // Malformed is expired (section 5.3), and so is what came twice and differs.
  const end = more.every((other) => other === expires) ? parseDate(expires, received) : undefined;
  if (end === undefined) return 0;
  return Math.max(0, Math.floor((end - dateOf({ lines, received })) / 1000));
}

/** A tenth of the time since it was modified, and no more than a day (RFC 9111 section 4.2.2). */
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

/** RFC 9111 section 4.2.3, the more careful of both ways. */
function ageAtFirst({ lines, requested, received }: Given & Times): number {
  const second = Math.floor(received / 1000); // Date tells no more
  const apparent = Math.max(0, second - dateOf({ lines, received: second * 1000 }) / 1000);
  return Math.max(apparent, ageValue(valuesOf(lines, 'age')) + (received - requested) / 1000);
}

/** The first member, unless that is no delta-seconds (RFC 9111 section 5.1). */
function ageValue([age = '']: readonly string[]): number {
  const first = /^[ \t]*(\d+)[ \t]*(?:,|$)/.exec(age)?.[1];
  return first === undefined ? 0 : Math.min(Number(first), FOREVER);
}

/** Date, or when the answer came (RFC 9110 section 6.6.1), in milliseconds since the epoch. */
export function dateOf({ lines, received }: Pick<Stored, 'lines' | 'received'>): number {
  return parseDate(onlyOf(lines, 'date'), received) ?? received;
}
