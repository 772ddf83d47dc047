import { createStepUp } from '#shared/auth/judge/step-up.ts';
import type { ProtectionSpace } from '#shared/auth/scheme.ts';
import type { AuthzServer } from './server.ts';

/** Seconds since the sign-in of a person who administers. */
const MAX_AGE = 600;

/**
 * Returns what asks an administrator for another sign-in (RFC 9470): theirs is recent, and by a second factor or a passkey
 * unless the server is in development.
 */
export function adminSignIn({
  config,
  clock,
  development,
}: Pick<AuthzServer, 'config' | 'clock' | 'development'>): NonNullable<ProtectionSpace['stepUp']> {
  const rule = { maxAge: MAX_AGE, ...(!development && { acr: 'second-factor' as const }) };
  return createStepUp([rule], { clock, skew: config.tokens.skew });
}
