import { Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { epochSeconds } from '#shared/clock.ts';
import { artefactOf } from './artefacts.ts';
import { singleUseAdapter } from './single-use.ts';
import type { AdapterStore } from './store.ts';
import { refreshTokenAfter } from './successor.ts';
import { usingRequest } from './using.ts';

/**
 * Refresh tokens (RFC 6749 section 6). One that was replaced and comes again ends the grant (RFC 9700
 * section 4.14.2). With `tokens.refreshGrace` its client may have lost the answer: for so long, and until
 * the successor is used, it gives the same successor again.
 */
export function refreshTokenAdapter(store: AdapterStore): Adapter {
  const { clock, config } = store;
  const grace = config.tokens.refreshGrace;
  const successor = refreshTokenAfter(store);

  async function forgives({ jti = '', consumed }: AdapterPayload): Promise<boolean> {
    if (typeof consumed !== 'number' || epochSeconds(clock) - consumed >= grace) return false;
    return successor.isUnused(jti);
  }

  const tokens = singleUseAdapter(store, 'RefreshToken', forgives);
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
      token.jti = successor.idAfter(using.used);
      using.successor = artefactOf('RefreshToken', token.jti, payload, expiresIn);
    },
  };
}
