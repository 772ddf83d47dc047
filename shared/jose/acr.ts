/**
 * The ways to sign in, weakest first: a later way satisfies a request for an earlier one. They are values of `acr`
 * (OpenID Connect Core 1.0 section 2).
 */
export const ACRS = [
  'urn:countersign:acr:provider',
  'urn:countersign:acr:password',
  'urn:countersign:acr:second-factor',
  'urn:countersign:acr:passkey',
] as const;

export type Acr = (typeof ACRS)[number];

/** The levels of sign-in that an operator may require, by their short names. The weaker ones need no rule. */
export const LEVELS = ['second-factor', 'passkey'] as const;

export type Level = (typeof LEVELS)[number];

export const acrOf = (level: Level): Acr => `urn:countersign:acr:${level}`;

/** All values of `acr` that satisfy a request for `least`, weakest first. */
export const satisfying = (least: Acr): readonly Acr[] => ACRS.slice(ACRS.indexOf(least));
