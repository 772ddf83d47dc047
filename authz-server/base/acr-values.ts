import { ACRS, type Acr, satisfying } from '#shared/jose/acr.ts';

/**
 * Returns the weakest way to sign in that satisfies a request (`acr_values`, OpenID Connect Core 1.0 section 3.1.2.1),
 * or undefined if any way does. Values of other servers are ignored, since no sign-in here can meet them.
 */
export function leastAcr(acrValues: unknown): Acr | undefined {
  const asked = valuesOf(acrValues);
  return ACRS.find((acr) => asked.has(acr));
}

/** Whether a sign-in of this kind satisfies the request; a stronger one does, too. */
export function isEnough(acr: string | undefined, acrValues: unknown): boolean {
  const least = leastAcr(acrValues);
  return least === undefined || satisfying(least).some((one) => one === acr);
}

/** Whether this server knows one of the values, or the request has no values. */
export const isKnownOrNone = (acrValues: unknown): boolean =>
  valuesOf(acrValues).size === 0 || leastAcr(acrValues) !== undefined;

const valuesOf = (acrValues: unknown): ReadonlySet<string> =>
  new Set(
    typeof acrValues === 'string' ? acrValues.split(' ').filter((value) => value !== '') : [],
  );
