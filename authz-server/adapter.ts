import { errors, Provider } from 'oidc-provider';
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import type { Stores } from '#shared/stores/stores.ts';
import { clientMetadata } from './client-metadata.ts';
import { orTemporarilyUnavailable } from './errors.ts';
import { endGrant } from './grants.ts';
import type { GrantStore } from './grants.ts';

/** Seconds for which a DPoP proof is remembered: its `iat` may lie 300 s in the future as well as in the past. */
const PROOF_SECONDS = 660;
/**
 * Seconds for which a client assertion is remembered: an hour, the default of Authlib, and a margin.
 * Longer-lived ones are refused (client-authentication.ts).
 */
export const ASSERTION_SECONDS = 3720;

export interface AdapterStore extends GrantStore {
  readonly stores: Pick<Stores, 'artefacts' | 'revocations' | 'clients' | 'replay'>;
  /** Whether clients that the first start made may be used (never in production). */
  readonly demoClients: boolean;
}

/** Of these, two users cannot be told apart, so both lose (RFC 9700 section 4.14.2, RFC 6749 section 4.1.2). */
const ENDS_GRANT = new Set(['AuthorizationCode', 'RefreshToken']);

/** What the library itself says to the second user of something that may be used once. */
function alreadyUsed(kind: string) {
  return kind === 'PushedAuthorizationRequest'
    ? new errors.InvalidRequestUri('request_uri is invalid, expired, or was already used')
    : new errors.InvalidGrant('already used');
}

/** The engine's storage on our stores. What needs a decision is decided atomically there. */
export function engineAdapter(store: AdapterStore): AdapterFactory {
  const special: Record<string, () => Adapter> = {
    Client: () => clientAdapter(store),
    ReplayDetection: () => replayAdapter(store),
    Grant: () => ({ ...artefactAdapter(store, 'Grant'), destroy: (id) => endGrant(store, id) }),
    DeviceCode: () => deviceCodeAdapter(store),
    AccessToken: () => ({
      ...artefactAdapter(store, 'AccessToken'),
      revokeByGrantId: (grantId) => endGrant(store, grantId),
    }),
  };
  return (kind) => failingClosed((special[kind] ?? (() => artefactAdapter(store, kind)))());
}

function artefactAdapter(store: AdapterStore, kind: string): Adapter {
  const { artefacts } = store.stores;
  return {
    upsert: (id, payload, expiresIn) =>
      artefacts.put({
        kind,
        id,
        payload,
        ...(expiresIn !== undefined && { seconds: expiresIn }),
      }),
    find: (id) => artefacts.get(kind, id),
    findByUid: (uid) => artefacts.getByUid(kind, uid),
    findByUserCode: (userCode) => artefacts.getByUserCode(kind, userCode),
    destroy: (id) => artefacts.remove(kind, id),
    revokeByGrantId: (grantId) => artefacts.removeByGrant(grantId),
    async consume(id) {
      const { grantId } = (await artefacts.get(kind, id)) ?? {};
      if ((await artefacts.consume(kind, id)) === 'first') return;
      if (ENDS_GRANT.has(kind) && typeof grantId === 'string') await endGrant(store, grantId);
      throw alreadyUsed(kind);
    },
  };
}

/**
 * A device that polls twice lost an answer; it is no thief. So the engine, which would end the grant, is
 * not told that the code was used: `consume` decides, and who comes second is refused (RFC 8628 section 3.5).
 */
function deviceCodeAdapter(store: AdapterStore): Adapter {
  const artefacts = artefactAdapter(store, 'DeviceCode');
  return {
    ...artefacts,
    async find(id) {
      const payload = await artefacts.find(id);
      if (payload) delete payload.consumed;
      return payload;
    },
  };
}

/** Clients are managed by the command line, the engine only reads them. */
function clientAdapter({ stores, demoClients }: AdapterStore): Adapter {
  const readOnly = () => Promise.reject(new Error('clients are not written by the engine'));
  return {
    async find(id) {
      const client = await stores.clients.get(id);
      if (client === undefined || (client.demo === true && !demoClients)) return undefined;
      return clientMetadata(client);
    },
    upsert: readOnly,
    findByUid: readOnly,
    findByUserCode: readOnly,
    destroy: readOnly,
    consume: readOnly,
    revokeByGrantId: readOnly,
  };
}

/**
 * The engine asks `find` and then saves, which lets a replay race through. Here `find` itself claims
 * the identifier: only the first to ask is told that there is none (RFC 9449 section 11.1, RFC 7523
 * section 3).
 */
function replayAdapter({ stores }: AdapterStore): Adapter {
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

/** A store that cannot answer is an error of the server (503), never "no such thing". */
function failingClosed(adapter: Adapter): Adapter {
  const guarded =
    <A extends unknown[], R>(verb: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      orTemporarilyUnavailable(verb(...args));
  return {
    upsert: guarded(adapter.upsert),
    find: guarded(adapter.find),
    findByUid: guarded(adapter.findByUid),
    findByUserCode: guarded(adapter.findByUserCode),
    destroy: guarded(adapter.destroy),
    consume: guarded(adapter.consume),
    revokeByGrantId: guarded(adapter.revokeByGrantId),
  };
}
