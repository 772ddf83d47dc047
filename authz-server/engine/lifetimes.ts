import type { Configuration } from 'oidc-provider';
import { epochSeconds } from '#shared/base/clock.ts';
import { PLAYGROUND_CLIENT } from '#shared/config/playground-client.ts';
import type { AuthzServer } from '../base/server.ts';
import { refreshLifetime } from './refresh/refresh.ts';

/** Seconds for which a person may take to sign in and to consent. */
const INTERACTION = 3600;
/** Seconds for which an authorization code may be redeemed (RFC 6749 section 4.1.2: at most ten minutes). */
const CODE = 60;

/**
 * Returns the lifetimes of tokens, codes, grants and sign-ins, in seconds. A session before an application ends after
 * its `idle` time (shared/config/sign-in-clients.ts), and `people.session` after the sign-in at the latest.
 */
export function lifetimes(
  server: Pick<AuthzServer, 'config' | 'clock'>,
): NonNullable<Configuration['ttl']> {
  const { tokens, people, device } = server.config;
  return {
    AccessToken: tokens.lifetime,
    ClientCredentials: tokens.lifetime,
    IdToken: tokens.lifetime,
    AuthorizationCode: CODE,
    DeviceCode: device.lifetime,
    // The playground uses what its person allows at once.
    Grant: (_ctx, { clientId }) => (clientId === PLAYGROUND_CLIENT ? CODE : people.grant),
    Interaction: INTERACTION,
    RefreshToken: (ctx) => refreshLifetime(server, ctx),
    // Counts from the sign-in, however often the session is used; without a person it only serves interactions.
    Session: (_ctx, { loginTs }) =>
      loginTs === undefined
        ? INTERACTION
        : Math.max(1, loginTs + people.session - epochSeconds(server.clock)),
  };
}
