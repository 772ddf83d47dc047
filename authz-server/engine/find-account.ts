import type { FindAccount } from 'oidc-provider';
import { claimsOf } from '#shared/people/claims.ts';
import { OPENID_SCOPES } from '../resources.ts';
import { orTemporarilyUnavailable } from './errors.ts';
import type { AuthzServer } from '../server.ts';

/** A person as the engine reads one; which of the claims are told follows from the scopes granted. */
export function findAccount({ directory }: Pick<AuthzServer, 'directory'>): FindAccount {
  return async (_ctx, id) => {
    const person = await orTemporarilyUnavailable(directory.find(id));
    if (person === undefined) return undefined;
    return { accountId: id, claims: () => ({ sub: id, ...claimsOf(person, OPENID_SCOPES) }) };
  };
}
