import { tokenSpaces } from '#shared/config/token-spaces.ts';
import { parseScope } from '#shared/jose/scope.ts';
import type { ScopeItem } from '#shared/people/access/consents.ts';
import { CLAIMS_OF_SCOPES } from '#shared/people/claims.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { scopesOfClaims } from '../base/claims-request.ts';
import { scopesFor } from '../resources/resource-indicators.ts';

/** Scopes about the person alone, in the order in which they are shown (OpenID Connect Core 1.0 section 5.4). */
const PERSONAL = ['openid', ...Object.keys(CLAIMS_OF_SCOPES), 'offline_access'];

/** The parameters of an authorization or device request, after the engine has checked and completed them. */
export interface AskedParams {
  readonly scope?: unknown;
  readonly resource?: unknown;
  /** The parameter `claims` in the form of `readClaims`. */
  readonly claims?: unknown;
}

/**
 * Returns the requested scopes that this client may have; the person can allow no others. A request that names claims
 * one by one asks the person for their whole scopes, so that the person always allows at least what the client gets.
 */
export function askedScopes(
  config: Parameters<typeof tokenSpaces>[0],
  client: Pick<ClientRecord, 'client_id' | 'scope'>,
  params: AskedParams,
): readonly ScopeItem[] {
  const asked = parseScope(typeof params.scope === 'string' ? params.scope : undefined);
  const allowed = parseScope(client.scope);
  const named = new Set(scopesOfClaims(params.claims, allowed));
  const personal = PERSONAL.filter((scope) => asked.has(scope) || named.has(scope)).map(
    (scope) => ({
      scope,
    }),
  );
  const spaces = tokenSpaces(config);
  const resources = [params.resource].flat().filter((one) => typeof one === 'string');
  const others = resources.flatMap((resource) => {
    const space = spaces.find(({ url }) => url === resource || url === `${resource}/`);
    if (space === undefined) return [];
    const known = scopesFor(space, client.client_id);
    const possible = [...asked].filter((scope) => allowed.has(scope) && known.has(scope));
    return possible.map((scope) => ({ scope, resource }));
  });
  return [...personal, ...others];
}
