import { createStepUp } from '#shared/auth/judge/step-up.ts';
import type { TokenVerifier } from '#shared/auth/tokens/token-verifier.ts';
import { ADMIN_READ_SCOPE, ADMIN_SCOPE, adminSpace } from '#shared/config/token-spaces.ts';
import { METHODS } from '#shared/http/methods.ts';
import type { AuthzServer } from '../base/server.ts';
import type { Rules } from '../resources/protection.ts';

/** Seconds since the sign-in of a person who administers. */
const MAX_AGE = 600;

/**
 * Returns who may come to the administration: with `admin:read` who reads, with `admin` who changes. The sign-in of a
 * person is recent, and by a second factor or a passkey, unless the server is in development (RFC 9470). A machine has
 * none.
 */
export function adminRules({ config, clock, development }: Rulers): Rules {
  const { safe = [], unsafe = [] } = adminSpace(config).scopes;
  const rule = { maxAge: MAX_AGE, ...(!development && { acr: 'second-factor' as const }) };
  const stepUp = createStepUp([rule], { clock, skew: config.tokens.skew });
  return {
    scopes: (method) => (METHODS.get(method)?.safe ? safe : unsafe),
    verifier: withImpliedScope,
    stepUp: (method, principal) =>
      principal.kind === 'person' ? stepUp(method, principal) : undefined,
  };
}

type Rulers = Pick<AuthzServer, 'config' | 'clock' | 'development'>;

/** Tokens that may change also read. */
function withImpliedScope(tokens: TokenVerifier): TokenVerifier {
  return {
    async verify(token, audiences) {
      const verdict = await tokens.verify(token, audiences);
      const { scopes } = verdict.kind === 'verified' ? verdict.principal : {};
      if (verdict.kind !== 'verified' || !scopes?.has(ADMIN_SCOPE)) return verdict;
      const implied = scopes.union(new Set([ADMIN_READ_SCOPE]));
      return { ...verdict, principal: { ...verdict.principal, scopes: implied } };
    },
  };
}
