import { createHmac } from 'node:crypto';
import { Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { epochSeconds } from '#shared/clock.ts';
import { derivedKey } from '../derived-key.ts';
import { artefactAdapter } from './artefacts.ts';
import type { AdapterStore } from './store.ts';
import { storedId } from './stored-id.ts';

/**
 * Refresh tokens (RFC 6749 section 6). One that was replaced and comes again ends the grant (RFC 9700
 * section 4.14.2). With `tokens.refreshGrace` its client may have lost the answer: for so long, and until
 * the successor is used, it gives the same successor again. The successor's identifier follows from that
 * of its predecessor then, so that any number of processes give the same one without waiting for another.
 */
export function refreshTokenAdapter(store: AdapterStore): Adapter {
  const { clock, config, master, stores } = store;
  const grace = config.tokens.refreshGrace;
  const key = derivedKey(master, 'refresh token successor');
  const successorOf = (id: string) => createHmac('sha256', key).update(id).digest('base64url');

  async function forgives({ jti = '', consumed }: AdapterPayload): Promise<boolean> {
    if (typeof consumed !== 'number' || epochSeconds(clock) - consumed >= grace) return false;
    const successor = storedId('RefreshToken', successorOf(jti));
    return (await stores.artefacts.get('RefreshToken', successor))?.['consumed'] === undefined;
  }

  const artefacts = artefactAdapter(store, 'RefreshToken', forgives);
  return {
    ...artefacts,

    async find(id) {
      const payload = await artefacts.find(id);
      if (payload && (await forgives(payload))) delete payload.consumed;
      return payload;
    },

    /** The answer takes the identifier from the token's entity (token-response.ts). */
    async upsert(id, payload, expiresIn) {
      const { RotatedRefreshToken: used, RefreshToken: token } = Provider.ctx?.oidc.entities ?? {};
      if (grace === 0 || used === undefined || token?.jti !== id) {
        return artefacts.upsert(id, payload, expiresIn);
      }
      token.jti = successorOf(used.jti);
      return artefacts.upsert(token.jti, { ...payload, jti: token.jti }, expiresIn);
    },
  };
}
