import { Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { epochSeconds } from '#shared/base/clock.ts';
import { spend } from '../../spend.ts';
import { artefactOf } from './artefacts.ts';
import { singleUseAdapter } from './single-use.ts';
import type { AdapterStore } from './store.ts';
import { refreshTokenAfter } from './successor.ts';
import { usingRequest } from './using.ts';

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
 * Refresh tokens (RFC 6749 section 6). One that was replaced and comes again ends the grant (RFC 9700
 * section 4.14.2). With `tokens.refreshGrace` its client may have lost the answer: for so long, and until
 * the successor is used, it gives the same successor again. Each that was used is remembered as long as it would
 * have lived: so an account leaves so many (`limits.visits`), and without grace little of each.
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

  const tokens = singleUseAdapter(store, 'RefreshToken', forgives, remains);
  return {
    ...tokens,

    async find(id) {
      const payload = await tokens.find(id);
      if (payload && (await forgives(payload))) delete payload.consumed;
      return payload;
    },

    /** The answer takes the identifier from the token's entity (token-response.ts). */
    async upsert(id, payload, expiresIn) {
      const using = usingRequest()?.using;
      const token = Provider.ctx?.oidc.entities.RefreshToken;
      if (using === undefined || token?.jti !== id) return tokens.upsert(id, payload, expiresIn);
      const account = payload.accountId ?? '';
      await spend(store.stores, 'refresh-tokens', account, config.limits.visits);
      token.jti = successor.idAfter(using.used);
      using.successor = artefactOf('RefreshToken', token.jti, payload, expiresIn);
    },
  };
}
