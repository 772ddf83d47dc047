import { errors } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { endGrant } from '#shared/access/grants.ts';
import type { AdapterStore } from './store.ts';
import { storedId } from './stored-id.ts';

/** Of these, two users cannot be told apart, so both lose (RFC 9700 section 4.14.2, RFC 6749 section 4.1.2). */
const ENDS_GRANT = new Set(['AuthorizationCode', 'RefreshToken']);

/** What the library itself says to the second user of something that may be used once. */
function alreadyUsed(kind: string) {
  return kind === 'PushedAuthorizationRequest'
    ? new errors.InvalidRequestUri('request_uri is invalid, expired, or was already used')
    : new errors.InvalidGrant('already used');
}

/**
 * What is stored names itself (`jti`) as the store does; the engine gets the identifier it asked with.
 * `forgives`: whether what was used before may be used once more.
 */
export function artefactAdapter(
  store: AdapterStore,
  kind: string,
  forgives: (payload: AdapterPayload) => Promise<boolean> = () => Promise.resolve(false),
): Adapter {
  const { artefacts } = store.stores;
  const stored = (id: string) => storedId(kind, id);

  async function find(id: string): Promise<AdapterPayload | undefined> {
    const payload = await artefacts.get(kind, stored(id));
    return payload && { ...payload, jti: id };
  }

  return {
    upsert: (id, payload, expiresIn) =>
      artefacts.put({
        kind,
        id: stored(id),
        payload: { ...payload, jti: stored(id) },
        ...(expiresIn !== undefined && { seconds: expiresIn }),
      }),
    find,
    findByUid: (uid) => artefacts.getByUid(kind, uid),
    findByUserCode: (userCode) => artefacts.getByUserCode(kind, userCode),
    destroy: (id) => artefacts.remove(kind, stored(id)),
    revokeByGrantId: (grantId) => artefacts.removeByGrant(grantId),
    async consume(id) {
      if ((await artefacts.consume(kind, stored(id))) === 'first') return;
      const used = await find(id);
      if (used !== undefined && (await forgives(used))) return;
      if (ENDS_GRANT.has(kind) && used?.grantId !== undefined) await endGrant(store, used.grantId);
      throw alreadyUsed(kind);
    },
  };
}
