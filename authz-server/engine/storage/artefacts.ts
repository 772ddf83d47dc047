import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { Artefact } from '#shared/stores/oauth/artefacts.ts';
import type { AdapterStore } from './store.ts';
import { storedId } from './stored-id.ts';

/** Converts a payload of the engine to a row of the store, with the store's identifier as its `jti`. */
export function artefactOf(
  kind: string,
  id: string,
  payload: AdapterPayload,
  seconds: number | undefined,
): Artefact {
  const stored = storedId(kind, id);
  return {
    kind,
    id: stored,
    payload: { ...payload, jti: stored },
    ...(seconds !== undefined && { seconds }),
  };
}

/**
 * Returns each row to the engine under the identifier that the engine asked for. refresh/single-use.ts stores the codes
 * and tokens of single use.
 */
export function artefactAdapter({ stores: { artefacts } }: AdapterStore, kind: string): Adapter {
  const stored = (id: string) => storedId(kind, id);
  return {
    upsert: (id, payload, expiresIn) => artefacts.put(artefactOf(kind, id, payload, expiresIn)),
    async find(id) {
      const payload = await artefacts.get(kind, stored(id));
      return payload && { ...payload, jti: id };
    },
    findByUid: (uid) => artefacts.getByUid(kind, uid),
    findByUserCode: (userCode) => artefacts.getByUserCode(kind, userCode),
    destroy: (id) => artefacts.remove(kind, stored(id)),
    // The engine calls this method for all kinds. Only the adapter of access tokens ends the grant, which removes its
    // artefacts after the revocation.
    revokeByGrantId: async () => {},
    consume: () => Promise.reject(new Error(`${kind} is not used up`)),
  };
}
