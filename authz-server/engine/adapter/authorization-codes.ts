import type { Adapter } from 'oidc-provider';
import { singleUseAdapter } from './single-use.ts';
import type { AdapterStore } from './store.ts';
import { usingRequest } from './using.ts';

/**
 * Codes. One that comes of a pushed request (RFC 9126) is written before the use of that, which may be kept
 * elsewhere: a code that nobody was told is of no use, and the request is still good.
 */
export function authorizationCodeAdapter(store: AdapterStore): Adapter {
  const codes = singleUseAdapter(store, 'AuthorizationCode');
  return {
    ...codes,
    async upsert(id, payload, expiresIn) {
      await codes.upsert(id, payload, expiresIn);
      await usingRequest()?.using?.write();
    },
  };
}
