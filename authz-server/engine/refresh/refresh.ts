import { Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload, Client, KoaContextWithOIDC } from 'oidc-provider';
import { epochSeconds } from '#shared/base/clock.ts';
import { endGrant } from '#shared/people/access/grants.ts';
import type { AuthzServer } from '../../base/server.ts';
import { spend } from '../../base/spend.ts';
import { artefactAdapter, artefactOf } from '../storage/artefacts.ts';
import type { AdapterStore } from '../storage/store.ts';
import { isFapi } from '../../base/fapi.ts';
import { engineRequest } from './engine-request.ts';
import { singleUseAdapter } from './single-use.ts';
import { refreshTokenAfter } from './successor.ts';

/**
 * THE rules of a refresh (RFC 6749 section 6), from top to bottom. Each rule names its test: [refresh] stands for
 * integration/token/refresh.test.ts, [request] for token-request.test.ts and [fapi] for fapi.test.ts beside it.
 *
 *  1. The client shows who it is, and may refresh (`mayRefresh`).
 *     [refresh] a client that has a secret must send it
 *     [refresh] a client that is not registered for refresh tokens gets none
 *  2. The token is found by its hash (storage/stored-id.ts).
 *     [refresh] the store has only the hash of a refresh token
 *  3. If the last use of a token was never settled, one more request may use the token (single-use.ts).
 *     [request] gets tokens, when the use was not written
 *     [request] if ten requests repeat a lost attempt, at most one succeeds
 *  4. A token that was used within `tokens.refreshGrace` may be used again until its successor is used (`unused`).
 *     [refresh] a repeated request gets the same successor, with a fresh access token, until the successor is used
 *     [refresh] a repeated request ends the grant after the successor was used, since one of the two users is a thief
 *     [refresh] a repeated request after the grace period ends the grant
 *  5. The engine checks the client, the expiry, the DPoP key, the scopes and the resource of the token. It ignores
 *     `offline_access` (`offlineScopeOfRefresh` in token/token-request.ts). A token that was issued with a DPoP proof
 *     needs a proof (token/token-request.ts). A refused request does not use up the token.
 *     [refresh] a client may ask for fewer scopes, for this access token only; a client that asks for more is refused
 *     [refresh] offline_access is ignored if the sign-in did not grant it
 *     [refresh] RFC 9449 section 5: a confidential client that began with DPoP must go on with DPoP
 *     [refresh] %s: a refused request does not use up the refresh token
 *  6. A token that was used before ends the grant (RFC 9700 section 4.14.2): the engine calls `revokeByGrantId`.
 *     [refresh] RFC 9700 section 4.14.2: a refresh token that is used twice ends the grant with all its tokens
 *  7. A used token is replaced, unless it is bound to a key of its client, or the client has the profile fapi2
 *     (`isReplaced`): then it is prolonged (`prolonged`).
 *     [refresh] each use gives a new refresh token with the same scopes and the same time of sign-in
 *     [refresh] a bound refresh token is not replaced, needs the key, and each use prolongs it
 *     [fapi] section 5.3.2.1: a refresh token is not replaced, and each use prolongs it
 *  8. The successor is computed from the token (successor.ts). It does not outlive its grant (`refreshLifetime`), and
 *     counts against the limit of its account (`upsert`).
 *     [refresh] a successor looks like any other refresh token
 *     [refresh] a refresh token does not outlive its grant
 *     [refresh] the refresh tokens of one account are limited, and a refused request does not use up the token
 *  9. The use is written together with the successor, just before the answer (token/token-request.ts). If two requests
 *     use a token at the same time, the second ends the grant (`twice`).
 *     [refresh] at most one of ten requests at the same time gets tokens, and the grant ends
 *     [request] a client that repeats the request after it gave up gets tokens: the abandoned request used nothing
 * 10. After the answer was sent the use is settled (settled.ts), and the store keeps only a few members (`remains`).
 *     [request] after the answer was sent, the use of the token is final
 *     [refresh] RFC 9700 section 4.14.2: the store keeps of a used token only the members that detect a second use
 */
export function refreshTokenAdapter(store: AdapterStore): Adapter {
  const { clock, config } = store;
  const grace = config.tokens.refreshGrace;
  const successor = refreshTokenAfter(store);

  /**
   * Returns the unused successor of a token that was used a short time ago, since a repeated request gets the same
   * successor.
   */
  async function unused({
    jti = '',
    consumed,
  }: AdapterPayload): Promise<AdapterPayload | undefined> {
    if (typeof consumed !== 'number' || epochSeconds(clock) - consumed >= grace) return undefined;
    const next = await successor.find(jti);
    return next?.['consumed'] === undefined ? next : undefined;
  }

  const engines = artefactAdapter(store, 'RefreshToken');
  const tokens = singleUseAdapter(store, 'RefreshToken', {
    forgives: async (used) => (await unused(used)) !== undefined,
    twice: ({ grantId = '' }) => endGrant(store, grantId),
    remains: (used) =>
      Object.fromEntries(Object.entries(used).filter(([name]) => REMAINS.has(name))),
  });
  return {
    ...tokens,

    /** The members come from the successor, as the store no longer has them for a used token. */
    async find(id) {
      const payload = await tokens.find(id);
      const next = payload && (await unused(payload));
      return next ? { ...next, ...payload, consumed: undefined } : payload;
    },

    /**
     * Ends the grant and its tokens. The client can repeat the request while some servers do not know the revocation
     * yet.
     */
    async destroy(id) {
      const { grantId } = (await engines.find(id)) ?? {};
      await (grantId === undefined ? engines.destroy(id) : endGrant(store, grantId));
    },

    /** A refresh token that replaces a used code or token is written together with that use. */
    async upsert(id, payload, expiresIn) {
      const request = engineRequest();
      if (request?.use === undefined) return tokens.upsert(id, payload, expiresIn);
      const account = payload.accountId ?? '';
      await spend(store.stores, 'refresh-tokens', account, config.limits.visits);
      const next = successor.idAfter(request.use.id);
      const artefact = artefactOf('RefreshToken', next, marked(payload), expiresIn);
      request.successor = { id: next, artefact };
    },
  };
}

/** Marks a refresh token that was issued with a DPoP proof. `proofs` then requires a proof at each refresh. */
const marked = (payload: AdapterPayload): AdapterPayload =>
  Provider.ctx?.get('DPoP') ? { ...payload, proved: true } : payload;

/** The members of a used token that the engine reads before it ends the grant. */
const REMAINS = new Set([
  'jti',
  'kind',
  'iat',
  'exp',
  'clientId',
  'accountId',
  'grantId',
  'scope',
  'jkt',
  'proved',
]);

/** True if this client gets a refresh token for a code. */
export const mayRefresh = (_ctx: KoaContextWithOIDC, client: Client): boolean =>
  client.grantTypeAllowed('refresh_token');

/**
 * Whether each use replaces the token (RFC 9700 section 4.14.2). A token that is bound to a public client's key stays,
 * as does the token of a client with the FAPI 2.0 Security Profile (section 5.3.2.1 there).
 */
export const isReplaced = ({ oidc: { client, refreshToken } }: KoaContextWithOIDC): boolean =>
  !isFapi(client) &&
  (client?.clientAuthMethod !== 'none' || refreshToken?.isSenderConstrained() !== true);

type Timed = Pick<AuthzServer, 'config' | 'clock'>;

/** Returns the lifetime in seconds of a refresh token that is issued or used now. It does not outlive its grant. */
export function refreshLifetime({ config, clock }: Timed, { oidc }: KoaContextWithOIDC): number {
  const rest = (oidc.grant?.exp ?? 0) - epochSeconds(clock);
  return Math.max(1, Math.min(config.tokens.refresh, rest));
}

/** Prolongs a refresh token at its use if it is not replaced. */
export function prolonged(server: Timed) {
  return async (ctx: KoaContextWithOIDC): Promise<void> => {
    const { refreshToken, entities, params, route } = ctx.oidc;
    const used = route === 'token' && params?.['grant_type'] === 'refresh_token';
    if (!used || refreshToken === undefined || entities.RotatedRefreshToken) return;
    refreshToken.exp = epochSeconds(server.clock) + refreshLifetime(server, ctx);
    await refreshToken.save();
  };
}
