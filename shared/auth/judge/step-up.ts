import { epochSeconds, type Clock } from '#shared/base/clock.ts';
import { METHODS } from '#shared/http/methods.ts';
import { acrOf, ACRS, type Level, satisfying } from '#shared/jose/acr.ts';
import type { AuthenticationEvent, NeededAuthentication, ProtectionSpace } from '../scheme.ts';

/** A rule by which some methods need a sign-in of this level, or this recent. */
export interface AuthenticationRule {
  readonly acr?: Level | undefined;
  /** Seconds since the sign-in. */
  readonly maxAge?: number | undefined;
  /** Methods; `safe` and `unsafe` mean all methods of that kind. Absent: every method. */
  readonly methods?: readonly string[] | undefined;
}

/**
 * Returns the sign-in that a request with this method needs: the highest level and the shortest time of all rules for
 * the method, so that another rule never admits more. A WebSocket reads and writes, so its handshake must also meet
 * the rules for GET.
 */
export function neededFor(
  rules: readonly AuthenticationRule[],
  method: string,
): NeededAuthentication | undefined {
  const names = namesOf(method);
  const own = rules.filter(({ methods }) => !methods || methods.some((one) => names.has(one)));
  const levels = own.flatMap(({ acr }) => (acr ? ACRS.indexOf(acrOf(acr)) : []));
  const ages = own.flatMap(({ maxAge }) => maxAge ?? []);
  const least = levels.length > 0 ? ACRS[Math.max(...levels)] : undefined;
  if (least === undefined && ages.length === 0) return undefined;
  return {
    ...(least && { acrValues: satisfying(least) }),
    ...(ages.length > 0 && { maxAge: Math.min(...ages) }),
  };
}

/** The names that a rule may use for a method. */
function namesOf(method: string): ReadonlySet<string> {
  if (method === 'WEBSOCKET') return new Set([method, ...namesOf('GET'), 'unsafe']);
  const name = method === 'HEAD' ? 'GET' : method;
  return new Set([method, name, METHODS.get(method)?.safe ? 'safe' : 'unsafe']);
}

/**
 * True if a sign-in meets the requirement. A requirement about data that the token lacks is not met. `skew`: seconds
 * by which the clocks may differ; a sign-in further in the future is not accepted as recent.
 */
function isMet(
  { acrValues, maxAge }: NeededAuthentication,
  { acr, authTime }: AuthenticationEvent,
  { now, skew }: { readonly now: number; readonly skew: number },
): boolean {
  if (acrValues && (acr === undefined || !acrValues.includes(acr))) return false;
  if (maxAge === undefined) return true;
  return authTime !== undefined && authTime <= now + skew && now <= authTime + maxAge + skew;
}

/** Creates the `stepUp` of a space, which asks for another sign-in (RFC 9470). `skew` in seconds. */
export function createStepUp(
  rules: readonly AuthenticationRule[],
  { clock, skew }: { readonly clock: Clock; readonly skew: number },
): NonNullable<ProtectionSpace['stepUp']> {
  return (method, { authentication = {} }) => {
    const needed = neededFor(rules, method);
    const now = epochSeconds(clock);
    return needed && !isMet(needed, authentication, { now, skew }) ? needed : undefined;
  };
}

/** Returns in words which sign-in is needed. */
export function inWords({ acrValues = [], maxAge }: NeededAuthentication): string {
  const how = IN_WORDS[acrValues[0] ?? ''];
  const when = maxAge === undefined ? undefined : `at most ${maxAge} seconds ago`;
  return ['a sign-in', how, when].filter((part) => part !== undefined).join(' ');
}

const IN_WORDS: Readonly<Record<string, string>> = {
  [acrOf('second-factor')]: 'with a second factor or a passkey',
  [acrOf('passkey')]: 'with a passkey',
};
