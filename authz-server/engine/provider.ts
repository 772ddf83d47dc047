import type { Configuration, Provider } from 'oidc-provider';
import { engineAdapter } from './adapter.ts';
import { withStepsBeforeGrant } from './token/before-grant.ts';
import { useHashedSecrets } from './clients/client-authentication.ts';
import { EXTRA_CLIENT_METADATA } from './clients/client-metadata.ts';
import { cookies } from './sessions/cookies.ts';
import { existingGrant } from './grants/existing-grant.ts';
import { features } from './features.ts';
import { ACRS } from '#shared/people/access/assurance.ts';
import { CLAIMS_OF_SCOPES } from '#shared/people/claims.ts';
import type { KeySet } from '#shared/keys/signing-key-ring.ts';
import { lifetimes } from './lifetimes.ts';
import { loginPolicy } from './login-policy.ts';
import { revocationsSpace } from '#shared/config/token-spaces.ts';
import { ASSERTION_ALGS, CLIENT_AUTHENTICATION, ENDPOINT_METADATA } from './answers/metadata.ts';
import { engineHooks } from '../pages/engine-hooks.ts';
import { LANGUAGES } from '#shared/pages/language.ts';
import { pkceRequired } from './codes/pkce.ts';
import { checkOwnRequest } from './playground/own-request.ts';
import { OPENID_SCOPES, resourceIndicators } from '../resources/resource-indicators.ts';
import { documentPolicy } from '#shared/client-documents/reach.ts';
import type { AuthzServer } from '../base/server.ts';
import { readParams, SIGN_IN_PARAMS } from './sign-in-params.ts';
import { SigningKey } from './token/signing-key.ts';
import type { TokenSteps } from './token/token-request.ts';

/**
 * Creates the configured engine. A new one is created when the keys change, since the engine cannot change them
 * itself. `steps`: what it does at POST /token.
 */
export function createProvider(server: AuthzServer, keys: KeySet, steps: TokenSteps): Provider {
  const { config } = server;
  const known = resourceIndicators(config, keys);
  const hooks = engineHooks(server);
  const configuration: Configuration = {
    ...steps.client,
    ...steps.refresh,
    ...steps.claims,
    adapter: engineAdapter(server),
    jwks: { keys: keys.jwks.map((jwk) => (jwk['alg'] === 'ES256' ? new SigningKey(jwk) : jwk)) },
    scopes: [...OPENID_SCOPES],
    claims: { openid: ['sub', 'acr', 'amr', 'auth_time'], ...CLAIMS_OF_SCOPES },
    acrValues: [...ACRS],
    responseTypes: ['code'],
    pkce: { required: pkceRequired },
    clientDefaults: {
      grant_types: ['client_credentials'],
      response_types: [],
      id_token_signed_response_alg: 'ES256',
    },
    extraClientMetadata: { properties: EXTRA_CLIENT_METADATA },
    clientAuthMethods: [...CLIENT_AUTHENTICATION],
    enabledJWA: {
      clientAuthSigningAlgValues: [...ASSERTION_ALGS],
      dPoPSigningAlgValues: ['ES256', 'RS256', 'EdDSA', 'Ed25519'],
      idTokenSigningAlgValues: ['ES256', 'RS256'],
    },
    clockTolerance: config.tokens.skew,
    ttl: lifetimes(server),
    cookies: cookies(server),
    loadExistingGrant: existingGrant(server),
    // Validates every authorization request, after its resources were found.
    extraParams: {
      scope(ctx, _scope, client) {
        checkOwnRequest(server, ctx, client);
        known.checkScope(ctx, client);
      },
      ...SIGN_IN_PARAMS,
    },
    interactions: { policy: loginPolicy(server), url: (_ctx, { uid }) => `/interaction/${uid}` },
    renderError: hooks.renderError,
    features: features(server, known, hooks),
    discovery: {
      userinfo_endpoint: `${config.issuer}/userinfo`,
      revocations_endpoint: revocationsSpace(config).url,
      ui_locales_supported: [...LANGUAGES],
      ...(documentPolicy(config) !== 'off' && { client_id_metadata_document_supported: true }),
      ...ENDPOINT_METADATA,
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
  const Engine = withStepsBeforeGrant([...steps.limits, ...steps.grant]);
  const provider = new Engine(config.issuer, configuration);
  // app.ts has replaced Host and X-Forwarded-* by the configured values.
  provider.proxy = true;
  useHashedSecrets(provider, server);
  readParams(provider, known.named);
  // RFC 8628 section 3.2; the engine leaves it out, and not every client knows the default.
  provider.on('device_authorization.success', (_ctx, answer) => {
    answer['interval'] = config.device.interval;
  });
  return provider;
}
