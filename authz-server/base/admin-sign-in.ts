import { createStepUp } from '#shared/auth/judge/step-up.ts';
import type { ProtectionSpace } from '#shared/auth/scheme.ts';
import type { AuthzServer } from './server.ts';

/** The greatest age, in seconds, of the sign-in of a person who administers. */
const MAX_AGE = 600;

/**
 * Returns the requirement for another sign-in of an administrator (RFC 9470): the sign-in must be recent. Outside of
 * development it also needs a second factor or a passkey.
 */
export function adminSignIn({
  config,
  clock,
  development,
}: Pick<AuthzServer, 'config' | 'clock' | 'development'>): NonNullable<ProtectionSpace['stepUp']> {
  const rule = { maxAge: MAX_AGE, ...(!development && { acr: 'second-factor' as const }) };
  return createStepUp([rule], { clock, skew: config.tokens.skew });
}
