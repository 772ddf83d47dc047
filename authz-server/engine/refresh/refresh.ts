import { Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload, Client, KoaContextWithOIDC } from 'oidc-provider';
import { epochSeconds } from '#shared/base/clock.ts';
import { endGrant } from '#shared/people/access/grants.ts';
import type { AuthzServer } from '../../base/server.ts';
import { spend } from '../../base/spend.ts';
import { artefactAdapter, artefactOf } from '../storage/artefacts.ts';
import type { AdapterStore } from '../storage/store.ts';
import { engineRequest } from './engine-request.ts';
import { singleUseAdapter } from './single-use.ts';
import { refreshTokenAfter } from './successor.ts';

/**
 * THE rules of a refresh (RFC 6749 section 6), from top to bottom. Each rule names its test: [refresh] stands for
 * integration/token/refresh.test.ts, [request] for token-request.test.ts beside it.
 *
 *  1. The client shows who it is, and may refresh (`mayRefresh`).
 *     [refresh] a client of a secret has to show it
 *     [refresh] a client that is not registered for them gets none
 *  2. The token is found by its hash (storage/stored-id.ts).
 *     [refresh] the store has only the hash of a refresh token
 *  3. A token whose last use was never settled is as good as new, for one request (single-use.ts).
 *     [request] gets tokens, when the use was not written
 *     [request] if ten requests take the place of a lost attempt, at most one succeeds
 *  4. So is one that was used within `tokens.refreshGrace`, until its successor is used (`unused`).
 *     [refresh] gets the same successor again, with a fresh access token, while nobody has used it
 *     [refresh] not once the successor was used: then it is a thief, or the client is
 *     [refresh] not later
 *  5. The engine checks whose it is, its life, the DPoP key, the scopes and the resource; `offline_access` is ignored
 *     (`offlineScopeOfRefresh` in token/token-request.ts). A token that came with a DPoP proof needs one (token/token-request.ts). A refusal uses nothing up.
 *     [refresh] fewer scopes may be asked for, for this token only; more may not
 *     [refresh] offline_access, which the sign-in dropped, is ignored and not given
 *     [refresh] RFC 9449 section 5: what a confidential client began with DPoP goes on with DPoP
 *     [refresh] %s: a request that is refused has used nothing up
 *  6. One that was used ends the grant (RFC 9700 section 4.14.2): the engine by `revokeByGrantId`.
 *     [refresh] RFC 9700 section 4.14.2: one that comes again ends the grant with all its tokens
 *  7. It is replaced, unless it is bound to a key of its client (`isReplaced`): then it is prolonged (`prolonged`).
 *     [refresh] each use gives another, with the same scopes and the time of the sign-in
 *     [refresh] it is not replaced, needs the key, and its use prolongs it
 *  8. The successor follows from the token (successor.ts), does not outlive its grant (`refreshLifetime`), and counts
 *     for its account (`upsert`).
 *     [refresh] the successor cannot be told from its predecessor
 *     [refresh] a refresh token does not outlive its grant
 *     [refresh] one account leaves so many, and a refusal has used nothing up
 *  9. The use is written with the successor, when only the answer is left to do (token/token-request.ts). Of two at once the
 *     second ends the grant (`twice`).
 *     [refresh] ten at once: at most one gets tokens, and the grant ends
 *     [request] gets tokens also after it gave up: a request whose client has left uses nothing
 * 10. Once the answer is out the use is settled (settled.ts), and little is kept of the token (`remains`).
 *     [request] with an answer that is out the use is final
 *     [refresh] RFC 9700 section 4.14.2: the store keeps of a used token only what detects its second use
 */
export function refreshTokenAdapter(store: AdapterStore): Adapter {
  const { clock, config } = store;
  const grace = config.tokens.refreshGrace;
  const successor = refreshTokenAfter(store);

  /** The successor that a token gives once more, since it was used just now and the successor was not. */
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

    /** The successor has all that is no longer kept of a used token. */
    async find(id) {
      const payload = await tokens.find(id);
      const next = payload && (await unused(payload));
      return next ? { ...next, ...payload, consumed: undefined } : payload;
    },

    /** Ends its grant, and goes with it: as long as the revocation is not heard everywhere, a client can ask for it again. */
    async destroy(id) {
      const { grantId } = (await engines.find(id)) ?? {};
      await (grantId === undefined ? engines.destroy(id) : endGrant(store, grantId));
    },

    /** One that comes of what the request uses up is written with that. */
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

/** Notes in a refresh token that it came with a DPoP proof, which `proofs` asks for again. */
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

/** RFC 9700 section 4.14.2: true if each use replaces the token, unless it is bound to a public client's key. */
export const isReplaced = ({ oidc: { client, refreshToken } }: KoaContextWithOIDC): boolean =>
  client?.clientAuthMethod !== 'none' || refreshToken?.isSenderConstrained() !== true;

type Timed = Pick<AuthzServer, 'config' | 'clock'>;

/** Returns the seconds that a refresh token issued or used now lives; it does not outlive its grant. */
export function refreshLifetime({ config, clock }: Timed, { oidc }: KoaContextWithOIDC): number {
  const rest = (oidc.grant?.exp ?? 0) - epochSeconds(clock);
  return Math.max(1, Math.min(config.tokens.refresh, rest));
}

/** A refresh token that is not replaced is prolonged by its use. */
export function prolonged(server: Timed) {
  return async (ctx: KoaContextWithOIDC): Promise<void> => {
    const { refreshToken, entities, params, route } = ctx.oidc;
    const used = route === 'token' && params?.['grant_type'] === 'refresh_token';
    if (!used || refreshToken === undefined || entities.RotatedRefreshToken) return;
    refreshToken.exp = epochSeconds(server.clock) + refreshLifetime(server, ctx);
    await refreshToken.save();
  };
}
