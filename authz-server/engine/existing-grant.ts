import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import { findAccess } from '#shared/people/access/grants.ts';
import { orTemporarilyUnavailable } from './errors.ts';
import type { AuthzServer } from '../server.ts';

/**
 * What the person has allowed the client in this session before. Undefined, so that they are asked, when
 * it has ended: no token of it would be issued any more.
 */
export function existingGrant(server: AuthzServer) {
  return async ({ oidc }: KoaContextWithOIDC): Promise<Grant | undefined> => {
    const { result, session, client, account, provider } = oidc;
    const grantId = result?.consent?.grantId ?? session?.grantIdFor(client?.clientId ?? '');
    if (grantId === undefined) return undefined;
    const access = await orTemporarilyUnavailable(findAccess(server, grantId));
    const theirs = access !== undefined && access.accountId === account?.accountId;
    return theirs ? provider.Grant.find(grantId) : undefined;
  };
}
