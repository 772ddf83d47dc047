import { epochSeconds } from '#shared/base/clock.ts';
import { randomId } from '#shared/base/random.ts';
import { findAccess, noteIssue } from '#shared/people/access/grants.ts';
import { ruledClaims } from '#shared/people/told-claims.ts';
import type { KeyBinding } from '#shared/jose/access-token-claims.ts';
import type { ClientRecord, RegisteredKey } from '#shared/stores/oauth/clients.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { knownView } from '#shared/stores/revocation/known-view.ts';
import { isSourceThere, mayStillGet } from '../base/enough-now.ts';
import { mayUseNow } from '../base/may-use.ts';
import { signedToken } from '../base/signed-token.ts';
import { GnapError } from './gnap-error.ts';
import { managementOf } from './management-token.ts';
import type { Origin } from './records.ts';
import type { GnapServer } from './server.ts';
import type { TokenOrder } from './token-order.ts';

/**
 * Records the issue of tokens before any part of them leaves the server. Rejects if the audit log cannot be written.
 */
export const recordIssue = (
  { recorder }: Pick<GnapServer, 'recorder'>,
  from: Origin,
  client: string,
  person?: string,
): Promise<void> => {
  const by = { who: { client }, how: 'gnap', from: from.address } as const;
  return person === undefined
    ? recorder.ownToken(client, 'gnap', by)
    : recorder.by(by).record({ kind: 'token.issued', client, person, type: 'gnap' });
};

export interface IssuedToken {
  readonly jti: string;
  /** The token as the client gets it (RFC 9635 section 3.2.1). */
  readonly answer: object;
}

/**
 * Issues an access token. The generations are read before the token is signed, so a revocation in between still revokes
 * it. Throws `GnapError` if the client or the grant has ended.
 */
export async function issueToken(server: GnapServer, order: TokenOrder): Promise<IssuedToken> {
  const { config, stores, feed, clock, random } = server;
  const { clientId, key, bearer, label, space, access, scopes, person } = order;
  const keys = await server.signingKeys();
  const { epoch } = await knownView(feed);
  if (epoch === undefined) throw new StoreUnavailable('the revocations are not known');
  const client_gen = await stores.revocations.generation('client', clientId);
  // The order matters: a client that was removed meanwhile gets no token of the generation after its end.
  const client = await stores.clients.get(clientId);
  if (client_gen !== order.generation || client === undefined) {
    throw new GnapError('invalid_client', 'the client was removed');
  }
  const iat = epochSeconds(clock);
  const jti = randomId(random);
  const revocable = {
    jti,
    sub: person?.accountId ?? clientId,
    client_id: clientId,
    client_gen,
    epoch,
    ...(person && (await grantClaims(server, client, person))),
  };
  const { claim_rules: rules } = client;
  const claims = {
    ...(rules && (await claimsByRule(server, rules, person?.accountId))),
    ...revocable,
    iss: config.issuer,
    aud: space.url,
    iat,
    exp: iat + config.tokens.lifetime,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    access,
    ...(!bearer && { cnf: bindingOf(key) }),
    ...(person && { ...person.assurance, auth_time: person.authTime }),
  };
  // A resource server that knows only OAuth refuses this type.
  const { kid, jwt } = await signedToken(keys, space.alg, 'gnap-at+jwt', claims);
  return {
    jti,
    answer: {
      value: jwt,
      ...(label !== undefined && { label }),
      access,
      expires_in: config.tokens.lifetime,
      ...(bearer && { flags: ['bearer'] }),
      manage: managementOf(server, order, { ...revocable, kid }),
    },
  };
}

/** Returns the key that a token is bound to. Without a `proof` the key's proof is `httpsig`. */
function bindingOf(key: RegisteredKey): KeyBinding {
  if (!('jwk' in key)) return { 'x5t#S256': key['cert#S256'] };
  const { jwk, proof } = key;
  return proof === 'httpsig' ? { jwk } : { jwk, proof };
}

export const notFor = () =>
  new GnapError('request_denied', 'the person may not use this client, or not after this sign-in');

async function claimsByRule(
  { directory }: GnapServer,
  rules: readonly string[],
  accountId: string | undefined,
) {
  if (accountId === undefined) return ruledClaims(rules, undefined);
  const person = await directory.find(accountId);
  return person && ruledClaims(rules, person);
}

async function grantClaims(
  server: GnapServer,
  client: ClientRecord,
  { grantId, accountId, assurance }: NonNullable<TokenOrder['person']>,
) {
  const granted = await findAccess(server, grantId);
  if (granted === undefined) throw new GnapError('invalid_continuation', 'the grant has ended');
  if (!isSourceThere(server, granted.identity)) {
    throw new GnapError('request_denied', 'the source of the sign-in is no longer configured');
  }
  if (!(await mayStillGet(server, accountId, assurance.acr))) {
    throw new GnapError('request_denied', 'the person must sign in with a second factor');
  }
  if (!(await mayUseNow(server, client, accountId, assurance.acr))) throw notFor();
  await noteIssue(server, grantId, server.config.people.grant);
  return { grant_id: grantId, sub_gen: granted.generation };
}
