import type { Adapter, AdapterFactory } from 'oidc-provider';
import { endGrant } from '#shared/people/access/grants.ts';
import { artefactAdapter } from './storage/artefacts.ts';
import { authorizationCodeAdapter } from './codes/authorization-codes.ts';
import { clientAdapter } from './clients/clients.ts';
import { deviceCodeAdapter } from './codes/device-codes.ts';
import { failingClosed } from './storage/fail-closed.ts';
import { interactionAdapter } from './sessions/interactions.ts';
import { refreshTokenAdapter } from './refresh/refresh.ts';
import { replayAdapter } from './clients/replay.ts';
import { sessionAdapter } from './sessions/sessions.ts';
import { singleUseAdapter } from './refresh/single-use.ts';
import type { AdapterStore } from './storage/store.ts';
import { boundedForStrangers, byAnybody } from './storage/strangers.ts';

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
