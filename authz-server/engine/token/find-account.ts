import type { FindAccount, KoaContextWithOIDC } from 'oidc-provider';
import { claimsOf } from '#shared/people/claims.ts';
import type { Person } from '#shared/people/directory.ts';
import { PLAYGROUND_PERSON } from '#shared/config/playground-client.ts';
import { parseScope } from '#shared/jose/scope.ts';
import { OPENID_SCOPES } from '../../resources/resource-indicators.ts';
import { orTemporarilyUnavailable } from '../../base/errors.ts';
import type { AuthzServer } from '../../base/server.ts';

type AccountServer = Pick<AuthzServer, 'directory' | 'stores' | 'clock' | 'longestLife'>;

/**
 * A person as the engine reads one; which of the claims are told follows from the scopes granted, of those that the
 * client may still ask for.
 */
export function findAccount(server: AccountServer): FindAccount {
  function claims({ oidc }: KoaContextWithOIDC, person: Person) {
    const allowed = parseScope(String(oidc.client?.['allowed_scope'])).intersection(OPENID_SCOPES);
    return { sub: person.id, ...claimsOf(person, allowed) };
  }

  return async (ctx, id) => {
    // In no directory, and nothing is told of this person.
    if (id === PLAYGROUND_PERSON) return { accountId: id, claims: () => ({ sub: id }) };
    const person = await orTemporarilyUnavailable(server.directory.find(id));
    return person && { accountId: id, claims: () => claims(ctx, person) };
  };
}
