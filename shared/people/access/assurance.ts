import type { Acr } from '#shared/jose/acr.ts';

export { ACRS, type Acr, satisfying } from '#shared/jose/acr.ts';

/** How a person showed who they are. */
export interface Assurance {
  readonly acr: Acr;
  /** The methods (RFC 8176 section 2). */
  readonly amr: readonly string[];
}

export const BY_PASSWORD: Assurance = { acr: 'urn:countersign:acr:password', amr: ['pwd'] };

/** By a password and a one-time code. */
export const BY_SECOND_FACTOR: Assurance = {
  acr: 'urn:countersign:acr:second-factor',
  amr: ['pwd', 'otp', 'mfa'],
};

/** By a password and a recovery code, which is no one-time password as RFC 8176 section 2 means it. */
export const BY_RECOVERY_CODE: Assurance = { acr: BY_SECOND_FACTOR.acr, amr: ['pwd', 'mfa'] };
