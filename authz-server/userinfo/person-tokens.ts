import { decodeJwt } from 'jose';
import type { AccessStore } from '#shared/people/access/access-store.ts';
import { findAccess, grantedScopes } from '#shared/people/access/grants.ts';
import { mayUse } from '#shared/stores/oauth/use-rules.ts';
import type { Principal } from '#shared/auth/scheme.ts';
import { claimsOfScopes } from '../base/claims-request.ts';
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
 * OpenID Connect that it was requested with and that the grant still holds, and of the claims that were requested one by
 * one those of such scopes. A token without a person or a grant has none.
 */
export function personTokens({ tokens, access, directory }: PersonTokensOptions): TokenVerifier {
  /** Returns the principal in this form, or a refusal with the reason why there is none. */
  async function known(principal: Principal, token: string): Promise<Principal | Refusal> {
    const { claims = {} } = principal;
    const grantId = claims['grant_id'];
    if (principal.kind !== 'person' || grantId === undefined) {
      return { ...principal, scopes: new Set() };
    }
    if ((await findAccess(access, grantId)) === undefined) return refuse('grant-ended');
    const person = await directory.find(principal.name);
    if (person === undefined) return refuse('person-gone');
    const client = await access.stores.clients.get(claims['client_id'] ?? '');
    if (client !== undefined && !mayUse(client, person, principal.authentication?.acr)) {
      return refuse('client-not-for-person');
    }
    const granted = grantedScopes(await access.stores.artefacts.get('Grant', grantId))[''];
    const named = parseScope(claimsNamedIn(token)).intersection(
      new Set(claimsOfScopes(granted ?? [])),
    );
    return {
      ...principal,
      scopes: parseScope(claims['openid_scope']).intersection(new Set(granted)),
      claims: { ...claims, openid_claims: [...named].join(' ') },
    };
  }

  return {
    async verify(token, audiences) {
      const verdict = await tokens.verify(token, audiences);
      if (verdict.kind !== 'verified') return verdict;
      const principal = await known(verdict.principal, token);
      return 'refusal' in principal ? { kind: 'refused', ...principal } : { ...verdict, principal };
    },
  };
}

/** Returns the names of claims that a verified token was requested with one by one. Only userinfo reads them. */
function claimsNamedIn(token: string): string | undefined {
  const named = decodeJwt(token)['openid_claims'];
  return typeof named === 'string' ? named : undefined;
}
