import type { Adapter } from 'oidc-provider';
import { endGrant } from '#shared/people/access/grants.ts';
import { engineRequest } from '../refresh/engine-request.ts';
import { singleUseAdapter } from '../refresh/single-use.ts';
import type { AdapterStore } from '../storage/store.ts';

/**
 * Codes. One that is used twice ends the grant, since the two cannot be told apart (RFC 6749 section 4.1.2):
 * here of two at once, else by the engine, to which `find` shows the use. One that comes of a pushed request (RFC 9126) is written before the use of that, which may be kept
 * elsewhere: a code that nobody was told is of no use, and the request is still good.
 *
 * The engine binds a code to what its Session says of the client at that moment, which another tab may change.
 * Ours ends with the `Access` beside its grant, and that with the sign-in.
 */
export function authorizationCodeAdapter(store: AdapterStore): Adapter {
  const codes = singleUseAdapter(store, 'AuthorizationCode', {
    twice: ({ grantId = '' }) => endGrant(store, grantId),
  });
  return {
    ...codes,
    async upsert(id, payload, expiresIn) {
      const unbound = { ...payload };
      delete unbound.expiresWithSession;
      await codes.upsert(id, unbound, expiresIn);
      await engineRequest()?.use?.write();
    },
  };
}
