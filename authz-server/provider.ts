import { hkdfSync } from 'node:crypto';
import { errors, Provider } from 'oidc-provider';
import type { Configuration } from 'oidc-provider';
import type { Parts } from '#shared/server/process.ts';
import { engineAdapter } from './adapter.ts';
import { checkAssertion, useHashedSecrets } from './client-authentication.ts';
import { EXTRA_CLIENT_METADATA } from './client-metadata.ts';
import { orTemporarilyUnavailable } from './errors.ts';
import type { KeySet } from './key-ring.ts';
import { resources } from './resources.ts';

export interface AuthzServer extends Omit<Parts, 'log' | 'random'> {
  /** Seconds. */
  readonly longestLife: number;
  /** Whether clients that the first start made may be used. */
  readonly demoClients: boolean;
}

/** The engine, configured; it is made anew when the keys change, since it cannot change them itself. */
export function createProvider(server: AuthzServer, keys: KeySet): Provider {
  const { config, stores, clock } = server;
  const limit = { limits: stores.limits, rate: config.limits.client };
  const known = resources(config, keys);
  const configuration: Configuration = {
    adapter: engineAdapter(server),
    jwks: { keys: [...keys.jwks] },
    scopes: ['openid'],
    responseTypes: [],
    clientDefaults: {
      grant_types: ['client_credentials'],
      response_types: [],
      id_token_signed_response_alg: 'ES256',
    },
    extraClientMetadata: { properties: EXTRA_CLIENT_METADATA },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    enabledJWA: {
      clientAuthSigningAlgValues: ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'],
      dPoPSigningAlgValues: ['ES256', 'RS256', 'EdDSA', 'Ed25519'],
      idTokenSigningAlgValues: ['ES256', 'RS256', 'EdDSA'],
    },
    assertJwtClientAuthClaimsAndHeader: checkAssertion(limit, clock),
    clockTolerance: config.tokens.skew,
    ttl: { ClientCredentials: config.tokens.lifetime, AccessToken: config.tokens.lifetime },
    cookies: { keys: [derived(server.master, 'cookies').toString('base64url')] },
    extraTokenClaims: (_ctx, token) => orTemporarilyUnavailable(revocableClaims(server, token)),
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
      introspection: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => client.clientId === token.clientId,
      },
      dPoP: {
        enabled: true,
        nonceSecret: derived(server.master, 'dpop nonce'),
        requireNonce: () => config.tokens.nonce,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: (ctx, client) => known.defaultResource(ctx, client) ?? '',
        useGrantedResource: () => true,
        getResourceServerInfo: known.resourceServer,
      },
    },
    routes: {
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
  return provider;
}

const derived = (master: Buffer, purpose: string) =>
  Buffer.from(hkdfSync('sha256', master, '', `countersign authz ${purpose}`, 32));

interface IssuedToken {
  readonly clientId?: string | undefined;
  readonly accountId?: string | undefined;
  readonly grantId?: string | undefined;
}

/**
 * The claims by which a token can be revoked. The generations are read before the
 * token is signed, so a revocation made meanwhile still hits it.
 */
async function revocableClaims({ stores, feed }: AuthzServer, token: unknown) {
  const { clientId = '', accountId, grantId } = token as IssuedToken;
  const { epoch } = feed.current();
  const client_gen = await stores.revocations.generation('client', clientId);
  // In this order: a client that was removed meanwhile gets no token of the generation after its end.
  if ((await stores.clients.get(clientId)) === undefined) {
    throw new errors.InvalidClient('the client was removed');
  }
  const sub_gen =
    accountId === undefined ? undefined : await stores.revocations.generation('person', accountId);
  return {
    epoch,
    client_gen,
    ...(sub_gen !== undefined && { sub_gen }),
    ...(grantId !== undefined && { grant_id: grantId }),
  };
}
