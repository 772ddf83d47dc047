import { errors } from 'oidc-provider';
import type { AccessToken, ClientCredentials, KoaContextWithOIDC } from 'oidc-provider';
import { findAccess, noteIssue } from '#shared/people/access/grants.ts';
import { openidScope, sourceOf } from './openid-scope.ts';
import type { AuthzServer } from '../server.ts';

type TokenClaimsServer = Pick<AuthzServer, 'config' | 'stores' | 'clock' | 'feed' | 'longestLife'>;

/**
 * Our claims of an access token: those by which it can be revoked, how and when its person signed in
 * (RFC 9068 section 2.2.1), and what of them it tells here (userinfo). The generations are read before the token is signed, so a revocation made
 * meanwhile still hits it. Throws `invalid_client` and `invalid_grant` for what has ended.
 */
export async function tokenClaims(
  server: TokenClaimsServer,
  ctx: KoaContextWithOIDC,
  token: AccessToken | ClientCredentials,
) {
  const { stores, feed } = server;
  const { clientId = '' } = token;
  const { epoch } = feed.current();
  const client_gen = await stores.revocations.generation('client', clientId);
  // In this order: a client that was removed meanwhile gets no token of the generation after its end.
  if ((await stores.clients.get(clientId)) === undefined) {
    throw new errors.InvalidClient('the client was removed');
  }
  return {
    epoch,
    client_gen,
    ...('accountId' in token && (await personClaims(server, ctx, token))),
  };
}

async function personClaims(
  server: TokenClaimsServer,
  ctx: KoaContextWithOIDC,
  { grantId }: AccessToken,
) {
  const access = await findAccess(server, grantId);
  if (access === undefined) throw new errors.InvalidGrant('the grant has ended');
  await noteIssue(server, grantId, server.config.people.grant);
  const source = sourceOf(ctx);
  const scope = openidScope(ctx);
  return {
    grant_id: grantId,
    ...(scope !== '' && { openid_scope: scope }),
    sub_gen: access.generation,
    acr: source?.acr,
    auth_time: source?.authTime,
  };
}
