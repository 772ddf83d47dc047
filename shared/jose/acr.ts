/**
 * The ways to sign in, weakest first: a later way satisfies a request for an earlier one. They are values of `acr`
 * (OpenID Connect Core 1.0 section 2).
 */
export const ACRS = [
  'urn:countersign:acr:password',
  'urn:countersign:acr:second-factor',
  'urn:countersign:acr:passkey',
] as const;

export type Acr = (typeof ACRS)[number];

/** All values of `acr` that satisfy a request for `least`, weakest first. */
export const satisfying = (least: Acr): readonly Acr[] => ACRS.slice(ACRS.indexOf(least));
