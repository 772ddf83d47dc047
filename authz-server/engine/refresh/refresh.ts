import type { Adapter, AdapterPayload } from 'oidc-provider';
import { endGrant } from '#shared/people/access/grants.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { spend } from '../../base/spend.ts';
import { engineRequest } from '../token/token-request.ts';
import { artefactOf } from '../storage/artefacts.ts';
import { singleUseAdapter } from './single-use.ts';
import type { AdapterStore } from '../storage/store.ts';
import { refreshTokenAfter } from './successor.ts';

/** What the engine reads of one that was used before it ends the grant. */
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
]);

/**
 * Refresh tokens (RFC 6749 section 6), and their reuse (RFC 9700 section 4.14.2): one that was replaced and
 * comes again ends the grant. `find` shows the engine that it was used (`consumed`); when client, key and scope are
 * right, that ends the grant by `revokeByGrantId`. Of two that come at once, both found it unused: whose use is
 * written second ends it (`twice`).
 *
 * With `tokens.refreshGrace` its client may have lost the answer: for so long, and until the successor is used,
 * it gives the same successor again (`forgives`). Each that was used is remembered as long as it would have
 * lived: so an account leaves so many (`limits.visits`), and without grace little of each (`remains`).
 */
export function refreshTokenAdapter(store: AdapterStore): Adapter {
  const { clock, config } = store;
  const grace = config.tokens.refreshGrace;
  const successor = refreshTokenAfter(store);

  async function forgives({ jti = '', consumed }: AdapterPayload): Promise<boolean> {
    if (typeof consumed !== 'number' || epochSeconds(clock) - consumed >= grace) return false;
    return successor.isUnused(jti);
  }

  async function remains(stored: string): Promise<AdapterPayload | undefined> {
    if (grace > 0) return undefined;
    const used = await store.stores.artefacts.get('RefreshToken', stored);
    return used && Object.fromEntries(Object.entries(used).filter(([name]) => REMAINS.has(name)));
  }

  const twice = ({ grantId = '' }: AdapterPayload) => endGrant(store, grantId);

  const tokens = singleUseAdapter(store, 'RefreshToken', { forgives, twice, remains });
  return {
    ...tokens,

    async find(id) {
      const payload = await tokens.find(id);
      if (payload && (await forgives(payload))) delete payload.consumed;
      return payload;
    },

    /** One that comes of what the request uses up is written with that. */
    async upsert(id, payload, expiresIn) {
      const request = engineRequest();
      if (request?.use === undefined) return tokens.upsert(id, payload, expiresIn);
      const account = payload.accountId ?? '';
      await spend(store.stores, 'refresh-tokens', account, config.limits.visits);
      const next = successor.idAfter(request.use.id);
      const artefact = artefactOf('RefreshToken', next, payload, expiresIn);
      request.successor = { id: next, artefact };
    },
  };
}
