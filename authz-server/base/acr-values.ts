import { errors } from 'oidc-provider';
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

/**
 * Throws `unmet_authentication_requirements` for a request whose values nobody can meet here. The request fails, so
 * that its client does not get tokens that its resource refuses again and again (RFC 9470 section 5).
 */
export function checkAcrValues(_ctx: unknown, acrValues: unknown): void {
  if (valuesOf(acrValues).size > 0 && leastAcr(acrValues) === undefined) {
    throw new errors.UnmetAuthenticationRequirements('none of the acr_values is known here');
  }
}

/** Throws `invalid_request` for a `max_age` that is no number of seconds in digits; `1e3` and `0x10` are none. */
export function checkMaxAge(_ctx: unknown, maxAge: unknown): void {
  if (maxAge !== undefined && !(typeof maxAge === 'string' && /^\d+$/.test(maxAge))) {
    throw new errors.InvalidRequest('invalid max_age parameter value');
  }
}

const valuesOf = (acrValues: unknown): ReadonlySet<string> =>
  new Set(
    typeof acrValues === 'string' ? acrValues.split(' ').filter((value) => value !== '') : [],
  );
