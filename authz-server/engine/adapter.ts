import type { Adapter, AdapterFactory } from 'oidc-provider';
import { endGrant } from '#shared/people/access/grants.ts';
import { artefactAdapter } from './adapter/artefacts.ts';
import { authorizationCodeAdapter } from './adapter/authorization-codes.ts';
import { clientAdapter } from './adapter/clients.ts';
import { deviceCodeAdapter } from './adapter/device-codes.ts';
import { failingClosed } from './adapter/fail-closed.ts';
import { interactionAdapter } from './adapter/interactions.ts';
import { refreshTokenAdapter } from './adapter/refresh-tokens.ts';
import { replayAdapter } from './adapter/replay.ts';
import { sessionAdapter } from './adapter/sessions.ts';
import { singleUseAdapter } from './adapter/single-use.ts';
import type { AdapterStore } from './adapter/store.ts';
import { boundedForStrangers, byPublicClient } from './adapter/strangers.ts';

/** The engine's storage on our stores. What needs a decision is decided atomically there. */
export function engineAdapter(store: AdapterStore): AdapterFactory {
  const special: Record<string, () => Adapter> = {
    AuthorizationCode: () => authorizationCodeAdapter(store),
    Client: () => clientAdapter(store),
    DeviceCode: () => deviceCodeAdapter(store),
    Interaction: () => interactionAdapter(store),
    PushedAuthorizationRequest: () =>
      boundedForStrangers(
        store,
        singleUseAdapter(store, 'PushedAuthorizationRequest'),
        byPublicClient,
      ),
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
