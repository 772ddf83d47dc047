import type { Acr } from '#shared/jose/acr.ts';

export { ACRS, type Acr, satisfying } from '#shared/jose/acr.ts';

/** The way in which a person signed in. */
export interface Assurance {
  readonly acr: Acr;
  /** The authentication methods (RFC 8176 section 2). */
  readonly amr: readonly string[];
}

export const BY_PASSWORD: Assurance = { acr: 'urn:countersign:acr:password', amr: ['pwd'] };

/** A sign-in by a password and a one-time code. */
export const BY_SECOND_FACTOR: Assurance = {
  acr: 'urn:countersign:acr:second-factor',
  amr: ['pwd', 'otp', 'mfa'],
};

/**
 * A sign-in by a password and a recovery code. A recovery code is not a one-time password in the sense of RFC 8176
 * section 2.
 */
export const BY_RECOVERY_CODE: Assurance = { acr: BY_SECOND_FACTOR.acr, amr: ['pwd', 'mfa'] };
