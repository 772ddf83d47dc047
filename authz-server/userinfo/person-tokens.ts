import type { AccessStore } from '#shared/people/access/access-store.ts';
import { findAccess, grantedScopes } from '#shared/people/access/grants.ts';
import { mayUse } from '#shared/stores/oauth/use-rules.ts';
import type { Principal } from '#shared/auth/scheme.ts';
import type { TokenVerifier } from '#shared/auth/tokens/token-verifier.ts';
import type { Directory } from '#shared/people/directory.ts';
import { parseScope } from '#shared/jose/scope.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { refuse } from '#shared/refusals/spaces.ts';

export interface PersonTokensOptions {
  /** Verifies the token itself. */
  readonly tokens: TokenVerifier;
  readonly access: AccessStore & { readonly stores: Pick<Stores, 'clients'> };
  readonly directory: Pick<Directory, 'find'>;
}

/**
 * Verifies tokens for the authorization server itself: the person must still exist. The token has those scopes of
 * OpenID Connect that it was requested with and that the grant still holds. A token without a person or a grant has
 * none.
 */
export function personTokens({ tokens, access, directory }: PersonTokensOptions): TokenVerifier {
  /** Returns the principal in this form, or a refusal with the reason why there is none. */
  async function known(principal: Principal): Promise<Principal | Refusal> {
    const { claims = {} } = principal;
    const grantId = claims['grant_id'];
    if (principal.kind !== 'person' || grantId === undefined) {
      return { ...principal, scopes: new Set() };
    }
    if ((await findAccess(access, grantId)) === undefined) return refuse('grant-ended');
    const person = await directory.find(principal.name);
    if (person === undefined) return refuse('person-gone');
    const client = await access.stores.clients.get(claims['client_id'] ?? '');
    if (client !== undefined && !mayUse(client, person, claims['acr'])) {
      return refuse('client-not-for-person');
    }
    const granted = grantedScopes(await access.stores.artefacts.get('Grant', grantId))[''];
    return {
      ...principal,
      scopes: parseScope(claims['openid_scope']).intersection(new Set(granted)),
    };
  }

  return {
    async verify(token, audiences) {
      const verdict = await tokens.verify(token, audiences);
      if (verdict.kind !== 'verified') return verdict;
      const principal = await known(verdict.principal);
      return 'refusal' in principal ? { kind: 'refused', ...principal } : { ...verdict, principal };
    },
  };
}
