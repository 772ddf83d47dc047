import { Provider } from 'oidc-provider';
import type { Configuration } from 'oidc-provider';
import { ACR } from './acr.ts';
import { engineAdapter } from './adapter.ts';
import { checkAssertion, useHashedSecrets } from './client-authentication.ts';
import { EXTRA_CLIENT_METADATA } from './client-metadata.ts';
import { cookies } from './cookies.ts';
import { clientBasedCORS } from './cors.ts';
import { orTemporarilyUnavailable } from './errors.ts';
import { existingGrant } from './existing-grant.ts';
import { features } from './features.ts';
import { findAccount } from './find-account.ts';
import type { KeySet } from './key-ring.ts';
import { lifetimes } from './lifetimes.ts';
import { engineHooks } from './pages/engine-hooks.ts';
import { LANGUAGES } from './pages/view.ts';
import { OPENID_SCOPES, resources } from './resources.ts';
import type { AuthzServer } from './server.ts';
import { tokenClaims } from './token-claims.ts';

export type { AuthzServer } from './server.ts';

/** The engine, configured; it is made anew when the keys change, since it cannot change them itself. */
export function createProvider(server: AuthzServer, keys: KeySet): Provider {
  const { config, stores, clock } = server;
  const limit = { limits: stores.limits, rate: config.limits.client };
  const known = resources(config, keys);
  const hooks = engineHooks(server);
  const configuration: Configuration = {
    adapter: engineAdapter(server),
    jwks: { keys: [...keys.jwks] },
    scopes: [...OPENID_SCOPES],
    claims: { openid: ['sub', 'acr', 'amr', 'auth_time'], profile: ['preferred_username'] },
    acrValues: [ACR],
    responseTypes: ['code'],
    pkce: { required: () => true },
    clientDefaults: {
      grant_types: ['client_credentials'],
      response_types: [],
      id_token_signed_response_alg: 'ES256',
    },
    extraClientMetadata: { properties: EXTRA_CLIENT_METADATA },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
    enabledJWA: {
      clientAuthSigningAlgValues: ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'],
      dPoPSigningAlgValues: ['ES256', 'RS256', 'EdDSA', 'Ed25519'],
      idTokenSigningAlgValues: ['ES256', 'RS256'],
    },
    assertJwtClientAuthClaimsAndHeader: checkAssertion(limit, clock),
    clientBasedCORS,
    clockTolerance: config.tokens.skew,
    ttl: lifetimes(server),
    cookies: cookies(server),
    findAccount: findAccount(server),
    loadExistingGrant: existingGrant(server),
    // A validator of every authorization request, after its resources were found.
    extraParams: { scope: (ctx, _scope, client) => known.checkScope(ctx, client) },
    extraTokenClaims: (ctx, token) => orTemporarilyUnavailable(tokenClaims(server, ctx, token)),
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    // RFC 9700 section 4.14.2: replaced at each use, unless it is bound to a key of its client.
    rotateRefreshToken: ({ oidc: { client, refreshToken } }) =>
      client?.clientAuthMethod !== 'none' || refreshToken?.isSenderConstrained() !== true,
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    renderError: hooks.renderError,
    features: features(server, known, hooks),
    discovery: {
      userinfo_endpoint: `${config.issuer}/userinfo`,
      ui_locales_supported: [...LANGUAGES],
    },
    routes: {
      authorization: '/auth',
      pushed_authorization_request: '/request',
      device_authorization: '/device/auth',
      code_verification: '/device',
      end_session: '/session/end',
      token: '/token',
      jwks: '/jwks',
      revocation: '/token/revocation',
      introspection: '/token/introspection',
    },
  };
  const provider = new Provider(config.issuer, configuration);
  // app.ts has replaced Host and X-Forwarded-* by what the configuration says.
  provider.proxy = true;
  useHashedSecrets(provider, limit);
  // RFC 8628 section 3.2; the engine leaves it out, and not every client knows the default.
  provider.on('device_authorization.success', (_ctx, answer) => {
    answer['interval'] = config.device.interval;
  });
  return provider;
}
