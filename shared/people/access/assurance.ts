import type { Acr } from '#shared/jose/acr.ts';

export { ACRS, type Acr, satisfying } from '#shared/jose/acr.ts';

/** The way in which a person signed in. */
export interface Assurance {
  readonly acr: Acr;
  /** The authentication methods (RFC 8176 section 2). */
  readonly amr: readonly string[];
}

export const BY_PASSWORD: Assurance = { acr: 'urn:countersign:acr:password', amr: ['pwd'] };

/** A sign-in by an account elsewhere. RFC 8176 has no value for it. */
export const BY_PROVIDER: Assurance = { acr: 'urn:countersign:acr:provider', amr: [] };

/** Returns how a person signed in, as events have it. */
export const howOf = ({ amr }: Assurance): string => amr.join(' ') || 'provider';

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

/** A sign-in by an account elsewhere and a one-time code of this server. */
export const BY_PROVIDER_AND_CODE: Assurance = { acr: BY_SECOND_FACTOR.acr, amr: ['otp', 'mfa'] };

/** A sign-in by an account elsewhere and a recovery code of this server. */
export const BY_PROVIDER_AND_RECOVERY_CODE: Assurance = { acr: BY_SECOND_FACTOR.acr, amr: ['mfa'] };
