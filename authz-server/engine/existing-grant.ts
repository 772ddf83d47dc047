import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import { findAccess } from '#shared/people/access/grants.ts';
import { isSignInClient } from '#shared/config/sign-in-clients.ts';
import { orTemporarilyUnavailable } from './errors.ts';
import { grantUnasked } from './grant-unasked.ts';
import type { AuthzServer } from '../server.ts';

/**
 * What the person has allowed the client in this session before. Undefined, so that they are asked, when
 * it has ended: no token of it would be issued any more. What signs them in before an application of the
 * operator's own asks nobody.
 */
export function existingGrant(server: AuthzServer) {
  return async (ctx: KoaContextWithOIDC): Promise<Grant | undefined> => {
    const { result, session, client, account, provider } = ctx.oidc;
    const clientId = client?.clientId ?? '';
    const grantId = result?.consent?.grantId ?? session?.grantIdFor(clientId);
    const access = grantId && (await orTemporarilyUnavailable(findAccess(server, grantId)));
    const theirs = access && access.accountId === account?.accountId;
    const id = theirs
      ? grantId
      : isSignInClient(clientId) && (await orTemporarilyUnavailable(grantUnasked(server, ctx)));
    return id ? provider.Grant.find(id) : undefined;
  };
}
