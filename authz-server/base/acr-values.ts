import { ACRS, type Acr, satisfying } from '#shared/jose/acr.ts';

/**
 * Returns the least way to sign in that a request is content with (`acr_values`, OpenID Connect Core 1.0 section
 * 3.1.2.1); undefined: with any. The values of other servers are left out, since none of them can be met here.
 */
export function leastAcr(acrValues: unknown): Acr | undefined {
  const asked = valuesOf(acrValues);
  return ACRS.find((acr) => asked.has(acr));
}

/** Whether somebody who signed in this way is what the request asks for. A stronger way is, too. */
export function isEnough(acr: string | undefined, acrValues: unknown): boolean {
  const least = leastAcr(acrValues);
  return least === undefined || satisfying(least).some((one) => one === acr);
}

/** Whether some of the values is known here, or none was sent. */
export const isKnownOrNone = (acrValues: unknown): boolean =>
  valuesOf(acrValues).size === 0 || leastAcr(acrValues) !== undefined;

const valuesOf = (acrValues: unknown): ReadonlySet<string> =>
  new Set(
    typeof acrValues === 'string' ? acrValues.split(' ').filter((value) => value !== '') : [],
  );
