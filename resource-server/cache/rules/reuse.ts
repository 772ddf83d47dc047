import type { Stored } from './stored.ts';
import type { Directives } from './directives.ts';
import { ageOf, type Policy } from './freshness.ts';

/** The decision about a request with a selected stored answer (RFC 9111 section 4). All times are seconds. */
export type Reuse =
  | { readonly kind: 'fresh'; readonly age: number; readonly ttl: number }
  /**
   * The stale answer is used. `refresh`: while the cache asks for a new answer in the background (RFC 5861 section 3).
   */
  | {
      readonly kind: 'stale';
      readonly age: number;
      readonly ttl: number;
      readonly refresh: boolean;
    }
  /**
   * The application is asked first. `onError`: seconds for which the stored answer may replace an error (RFC 5861
   * section 4). `disconnected`: whether it may replace a missing answer (RFC 9111 section 4.2.4).
   */
  | {
      readonly kind: 'validate';
      readonly age: number;
      readonly ttl: number;
      readonly reason: 'stale' | 'request';
      readonly onError: number;
      readonly disconnected: boolean;
    }
  /** The client forbids asking the application, and no stored answer is usable: 504 (RFC 9111 section 5.2.1.7). */
  | { readonly kind: 'none'; readonly reason: 'only-if-cached' };

/**
 * THE rule of when the cache answers without asking the application (RFC 9111 section 4).
 * Either the stored answer is fresh, not outdated and without `no-cache`, and the client demands nothing stricter. Or
 * stale use is allowed. `demands`: as `demandsOf` returns them. `now`: in milliseconds since the epoch.
 */
export function reuseOf(
  { outdated }: Pick<Stored, 'outdated'>,
  policy: Policy,
  demands: Directives | undefined,
  now: number,
): Reuse {
  const age = ageOf(policy, now);
  const ttl = policy.lifetime - age;
  // After the clock was set back, the age of an answer from the future is unknown.
  const usable = !outdated && !policy.noCache && policy.received <= now;
  const refused = demands !== undefined && refuses(demands, age, ttl);
  if (usable && !refused) {
    if (ttl > 0) return { kind: 'fresh', age, ttl };
    const use = policy.neverStale ? undefined : staleUse(policy, demands, -ttl);
    if (use !== undefined) return { kind: 'stale', age, ttl, refresh: use === 'refresh' };
  }
  if (demands?.flags.has('only-if-cached')) return { kind: 'none', reason: 'only-if-cached' };
  const reason = usable && ttl > 0 ? 'request' : 'stale';
  const onError = leftOnError(policy, demands, ttl);
  const freshOnly = refused || demands?.seconds.has('max-age') === true;
  const disconnected = usable && !freshOnly && !policy.neverStale && -ttl < DISCONNECTED;
  return { kind: 'validate', age, ttl, reason, onError, disconnected };
}

/** The most seconds for which a stale answer is used if the application gives no answer. */
const DISCONNECTED = 86_400;

/** Whether the client's directives refuse the stored answer (RFC 9111 sections 5.2.1.1, 5.2.1.3 and 5.2.1.4). */
function refuses({ flags, seconds }: Directives, age: number, ttl: number): boolean {
  const oldest = seconds.get('max-age');
  return (
    flags.has('no-cache') ||
    (oldest !== undefined && (age > oldest || oldest === 0)) ||
    ttl < (seconds.get('min-fresh') ?? -Infinity)
  );
}

/**
 * Decides about an answer that has been stale for `stale` seconds (RFC 9111 section 4.2.4). `refresh`: RFC 5861 section
 * 3 allows it. Undefined: it is not used.
 */
function staleUse(
  { whileRevalidating }: Policy,
  demands: Directives | undefined,
  stale: number,
): 'refresh' | 'use' | undefined {
  const most = demands?.seconds.get('max-stale');
  // A request with max-age gets no stale answer, unless it also has max-stale (RFC 9111 section 5.2.1.1).
  const freshOnly = demands?.seconds.has('max-age') === true && most === undefined;
  if (stale < whileRevalidating && !freshOnly) return 'refresh';
  return most !== undefined && stale <= most ? 'use' : undefined;
}

/**
 * Seconds of stale use that the application or the client allows on errors (RFC 5861 section 4), or zero if stale use
 * is forbidden.
 */
function leftOnError(
  { ifError, neverStale }: Policy,
  demands: Directives | undefined,
  ttl: number,
): number {
  if (neverStale) return 0;
  const allowed = Math.max(ifError, demands?.seconds.get('stale-if-error') ?? 0);
  return Math.max(0, allowed + Math.min(0, ttl));
}
