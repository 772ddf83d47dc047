import { acrOf, ACRS, type Acr, type Level, satisfying } from '#shared/jose/acr.ts';

/**
 * Returns the weakest way to sign in that satisfies a request (`acr_values`, OpenID Connect Core 1.0 section 3.1.2.1)
 * and the operator's rule for the client, or undefined if any way does. Values of other servers are ignored, since no
 * sign-in here can meet them.
 */
export function leastAcr(acrValues: unknown, minimum?: Level): Acr | undefined {
  const asked = valuesOf(acrValues);
  const ofRequest = ACRS.findIndex((acr) => asked.has(acr));
  const ofRule = minimum === undefined ? -1 : ACRS.indexOf(acrOf(minimum));
  return ACRS[Math.max(ofRequest, ofRule)];
}

/** Whether a sign-in of this kind satisfies the request and the rule; a stronger one does, too. */
export function isEnough(acr: string | undefined, acrValues: unknown, minimum?: Level): boolean {
  const least = leastAcr(acrValues, minimum);
  return least === undefined || satisfying(least).some((one) => one === acr);
}

/** Whether this server knows one of the values, or the request has no values. */
export const isKnownOrNone = (acrValues: unknown): boolean =>
  valuesOf(acrValues).size === 0 || leastAcr(acrValues) !== undefined;

const valuesOf = (acrValues: unknown): ReadonlySet<string> =>
  new Set(
    typeof acrValues === 'string' ? acrValues.split(' ').filter((value) => value !== '') : [],
  );
