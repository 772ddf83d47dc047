import { errors } from 'oidc-provider';
import type { AccessToken, ClientCredentials, KoaContextWithOIDC } from 'oidc-provider';
import { type Access, findAccessOfPerson, isOfClient } from '#shared/people/access/grants.ts';
import { CLAIMS_OF_SCOPES } from '#shared/people/claims.ts';
import { ruledClaims, toldClaims } from '#shared/people/told-claims.ts';
import { parseScope } from '#shared/jose/scope.ts';
import { openidScope, sourceOf } from './openid-scope.ts';
import { isSourceThere, mayStillGet } from '../../base/enough-now.ts';
import { mayUseNow } from '../../base/may-use.ts';
import { isAsDescribed } from '../../consent/described-since.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { knownView } from '#shared/stores/revocation/known-view.ts';
import type { AuthzServer } from '../../base/server.ts';

type TokenClaimsServer = Pick<
  AuthzServer,
  'config' | 'stores' | 'clock' | 'feed' | 'longestLife' | 'directory'
>;

/**
 * Returns the claims by which a client's token can be revoked. They are read before the token is signed, so a
 * revocation in between still revokes it.
 */
export async function revocableClaims(
  { stores, feed }: Pick<AuthzServer, 'stores' | 'feed'>,
  clientId: string,
) {
  const { epoch } = await knownView(feed);
  return { epoch, client_gen: await stores.revocations.generation('client', clientId) };
}

/**
 * Returns our claims of an access token: the claims by which it can be revoked, the sign-in of its person (RFC 9068
 * section 2.2.1), the claims for userinfo, and the claims for which the resource has scopes (section 2.2.2) or the client
 * has rules. Throws `invalid_client` or `invalid_grant` if the client, grant or person has lost access.
 */
export async function tokenClaims(
  server: TokenClaimsServer,
  ctx: KoaContextWithOIDC,
  token: AccessToken | ClientCredentials,
) {
  const { clientId = '' } = token;
  const ofPerson = 'accountId' in token ? token : undefined;
  // These reads may run in any order: the generation comes from the client's authentication, which was before the
  // client's end.
  const [claims, client, access] = await Promise.all([
    revocableClaims(server, clientId),
    server.stores.clients.get(clientId),
    ofPerson && findAccessOfPerson(server, ofPerson),
  ]);
  const { client_gen } = claims;
  if (client === undefined) throw new errors.InvalidClient('the client was removed');
  if (ctx.oidc.client?.['generation'] !== client_gen) {
    throw new errors.InvalidClient('the client was ended since it authenticated');
  }
  const found = { client, client_gen, access };
  return ofPerson
    ? { ...(await personClaims(server, ctx, ofPerson, found)), ...claims }
    : { ...ruledClaims(client.claim_rules, undefined), ...claims };
}

const TELLING = new Set(Object.keys(CLAIMS_OF_SCOPES));

interface Found {
  readonly client: ClientRecord;
  readonly client_gen: number;
  readonly access: Access | undefined;
}

async function personClaims(
  server: TokenClaimsServer,
  ctx: KoaContextWithOIDC,
  { grantId, accountId, scope: resourceScope }: AccessToken,
  { client, client_gen, access }: Found,
) {
  if (access === undefined) throw new errors.InvalidGrant('the grant has ended');
  if (!isOfClient(access, client_gen)) {
    throw new errors.InvalidGrant('the client was removed and registered anew');
  }
  // RFC 6749 section 10.4: a refresh token that required a key still requires one after the client's document has
  // changed.
  const isPublic = ctx.oidc.client?.clientAuthMethod === 'none';
  if (isPublic && access.since < (client.document?.public_since ?? 0)) {
    throw new errors.InvalidGrant('the client has shown a key, and shows none now');
  }
  // Client ID Metadata Document section 6.3. A refresh token stays valid when the client changes its keys.
  if (ctx.oidc.authorizationCode && client.document && !isAsDescribed(access, client)) {
    throw new errors.InvalidGrant('the client is described otherwise than when it was allowed');
  }
  if (!isSourceThere(server, access.identity)) {
    throw new errors.InvalidGrant('the person signed in by a source that is no longer configured');
  }
  const source = sourceOf(ctx);
  if (!(await mayStillGet(server, accountId, source?.acr))) {
    throw new errors.InvalidGrant('the person must sign in with a second factor');
  }
  if (!(await mayUseNow(server, client, accountId, source?.acr))) {
    throw new errors.InvalidGrant('the person may not use this client, or not after this sign-in');
  }
  const scope = openidScope(ctx);
  const ofUserinfo = new Set(Object.keys(source?.claims?.userinfo ?? {}));
  const named = ctx.oidc.grant?.getOIDCClaimsFiltered(ofUserinfo) ?? [];
  const told = parseScope(resourceScope).intersection(TELLING);
  const tells = told.size > 0 || client.claim_rules !== undefined;
  const person = tells ? await server.directory.find(accountId) : undefined;
  return {
    ...(person && toldClaims(person, told, client.claim_rules)),
    grant_id: grantId,
    ...(scope !== '' && { openid_scope: scope }),
    ...(named.length > 0 && { openid_claims: named.join(' ') }),
    sub_gen: access.generation,
    acr: source?.acr,
    amr: source?.amr,
    auth_time: source?.authTime,
  };
}
