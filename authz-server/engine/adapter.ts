import {
  type Adapter,
  type AdapterFactory,
  type AdapterPayload,
  errors,
  Provider,
} from 'oidc-provider';
import { endGrant } from '#shared/people/access/grants.ts';
import { artefactAdapter } from './storage/artefacts.ts';
import { clientAdapter } from './clients/clients.ts';
import { deviceCodeAdapter } from './codes/device-codes.ts';
import { refreshTokenAdapter } from './refresh/refresh.ts';
import { replayAdapter } from './clients/replay.ts';
import { sessionAdapter } from './sessions/sessions.ts';
import { singleUseAdapter } from './refresh/single-use.ts';
import type { AdapterStore } from './storage/store.ts';
import { boundedForStrangers, byAnybody } from './storage/strangers.ts';
import { orTemporarilyUnavailable } from '../base/errors.ts';
import { engineRequest } from './refresh/engine-request.ts';
import { FORMER } from './sessions/former-sessions.ts';

/** Returns the engine's storage on our stores, which make every decision atomically. */
export function engineAdapter(store: AdapterStore): AdapterFactory {
  const special: Record<string, () => Adapter> = {
    AuthorizationCode: () => authorizationCodeAdapter(store),
    Client: () => clientAdapter(store),
    DeviceCode: () => deviceCodeAdapter(store),
    Interaction: () => interactionAdapter(store),
    PushedAuthorizationRequest: () =>
      boundedForStrangers(store, singleUseAdapter(store, 'PushedAuthorizationRequest'), byAnybody),
    RefreshToken: () => refreshTokenAdapter(store),
    ReplayDetection: () => replayAdapter(store),
    Session: () => sessionAdapter(store),
    Grant: () => ({ ...artefactAdapter(store, 'Grant'), destroy: (id) => endGrant(store, id) }),
    AccessToken: () => ({
      ...artefactAdapter(store, 'AccessToken'),
      revokeByGrantId: (grantId) => endGrant(store, grantId),
    }),
  };
  return (kind) => failingClosed((special[kind] ?? (() => artefactAdapter(store, kind)))());
}

/** If the store cannot answer, the server answers with an error (503), and never with "not found". */
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

/**
 * Stores authorization codes. A code that is used twice ends its grant, since the server cannot know which of the two
 * users is the client (RFC 6749 section 4.1.2). If both uses come at the same time, this adapter ends the grant;
 * otherwise the engine does so, as `find` returns the code with its use. A code of a pushed request (RFC 9126) is
 * written before the use of the request, which may be in another store: a code that no client has got is useless, and
 * the request can still be used. The engine would compare a code with its current Session, which another tab may
 * change. Here a code ends with the `Access` beside its grant, and the `Access` ends with the sign-in.
 */
function authorizationCodeAdapter(store: AdapterStore): Adapter {
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

/**
 * Stores requests that wait for a person. If several browser requests resume the same one, only one succeeds. For a
 * while the store remembers the session and browser that resumed it: if the answer is lost, the browser asks again with
 * the former identifier of its session. The engine notes the client's present grant, with whose end the request would
 * end. Only the sign-in counts: a person who loses the grant meanwhile is asked again, or refused.
 */
function interactionAdapter(store: AdapterStore): Adapter {
  const { artefacts } = store.stores;
  const interactions = artefactAdapter(store, 'Interaction');
  const bounded = boundedForStrangers(store, interactions, ({ session }) => session === undefined);
  return {
    ...bounded,
    upsert(id, payload, expiresIn) {
      const { grantId: _, ...waiting } = payload;
      return bounded.upsert(id, waiting, expiresIn);
    },
    async find(id) {
      const found = await interactions.find(id);
      return found?.['done'] ? undefined : found;
    },
    async destroy(id) {
      if (Provider.ctx?.oidc.route !== 'resume') return interactions.destroy(id);
      const was: AdapterPayload | undefined = await artefacts.get('Interaction', id);
      const { sessionUid, browser, form } = was?.result ?? {};
      const payload = { done: true, result: { sessionUid, browser, form } };
      const done = { kind: 'Interaction', id, payload, seconds: FORMER };
      const isFirst = was && was['done'] === undefined && (await artefacts.replace(done, was));
      if (!isFirst) throw new errors.SessionNotFound('another request took it up');
    },
  };
}
