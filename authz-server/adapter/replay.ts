import { Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { AdapterStore } from './store.ts';

/** Seconds for which a DPoP proof is remembered: its `iat` may lie 300 s in the future as well as in the past. */
const PROOF_SECONDS = 660;
/**
 * Seconds for which a client assertion is remembered: an hour, the default of Authlib, and a margin.
 * Longer-lived ones are refused (client-authentication.ts).
 */
export const ASSERTION_SECONDS = 3720;

/**
 * The engine asks `find` and then saves, which lets a replay race through. Here `find` itself claims
 * the identifier: only the first to ask is told that there is none (RFC 9449 section 11.1, RFC 7523
 * section 3).
 */
export function replayAdapter({ stores }: AdapterStore): Adapter {
  const nothing = () => Promise.resolve(undefined);
  return {
    async find(id): Promise<AdapterPayload | undefined> {
      const asserted = Provider.ctx?.oidc.params?.['client_assertion'] !== undefined;
      const seconds = asserted ? ASSERTION_SECONDS : PROOF_SECONDS;
      const first = await stores.replay.unique('engine', id, seconds);
      return first ? undefined : { jti: id, kind: 'ReplayDetection' };
    },
    upsert: nothing,
    findByUid: nothing,
    findByUserCode: nothing,
    destroy: nothing,
    consume: nothing,
    revokeByGrantId: nothing,
  };
}
