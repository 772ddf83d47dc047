import type { TokenVerifier } from '#shared/auth/tokens/token-verifier.ts';
import { ADMIN_READ_SCOPE, ADMIN_SCOPE, adminSpace } from '#shared/config/token-spaces.ts';
import { METHODS } from '#shared/http/methods.ts';
import { adminSignIn } from '../base/admin-sign-in.ts';
import type { AuthzServer } from '../base/server.ts';
import type { Rules } from '../resources/protection.ts';

/**
 * Returns who may come to the administration: with `admin:read` who reads, with `admin` who changes. A machine has no
 * sign-in of which more could be asked.
 */
export function adminRules(server: Rulers): Rules {
  const { safe = [], unsafe = [] } = adminSpace(server.config).scopes;
  const stepUp = adminSignIn(server);
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
