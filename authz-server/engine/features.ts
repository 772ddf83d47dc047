import { errors } from 'oidc-provider';
import type { Configuration } from 'oidc-provider';
import { parseScope } from '#shared/jose/scope.ts';
import { claimsRequest, readClaims } from '../base/claims-request.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { EngineHooks } from '../pages/engine-hooks.ts';
import { isFapi } from '../base/fapi.ts';
import type { ResourceIndicators } from '../resources/resource-indicators.ts';
import type { AuthzServer } from '../base/server.ts';

/** Returns the configuration of the engine's features beyond authorization code, refresh token and metadata. */
export function features(
  { config, master }: AuthzServer,
  known: ResourceIndicators,
  { logoutSource, postLogoutSuccessSource }: EngineHooks,
): NonNullable<Configuration['features']> {
  return {
    devInteractions: { enabled: false },
    externalSigningSupport: { enabled: true, ack: 'experimental-01' }, // token/signing-key.ts
    // Userinfo is answered before the engine (userinfo/userinfo.ts), since the engine accepts no JWT there.
    userinfo: { enabled: false },
    claimsParameter: {
      enabled: true,
      assertClaimsParameter({ oidc }, claims, client) {
        const { params = {} } = oidc;
        const kept = readClaims(
          String(params['claims']),
          parseScope(String(client['allowed_scope'])),
        );
        if (oidc.route === 'device_authorization' && claimsRequest(kept).id_token['sub']) {
          throw new errors.InvalidRequest('a device cannot name the sub of the person');
        }
        params['claims'] = kept;
        // Otherwise the engine, whose own userinfo is off, would refuse the request.
        delete claims.userinfo;
      },
    },
    pushedAuthorizationRequests: { enabled: true },
    fapi: { enabled: true, profile: (_ctx, client) => (isFapi(client) ? '2.0' : undefined) },
    clientCredentials: { enabled: true },
    revocation: {
      enabled: true,
      allowedPolicy(_ctx, client, token) {
        if (client.clientId === token.clientId) return true;
        throw new errors.UnauthorizedClient('the token was issued to another client');
      },
    },
    // For the metadata and for `sid`; logouts are sent by logout/.
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: { enabled: true, logoutSource, postLogoutSuccessSource },
    introspection: {
      enabled: true,
      allowedPolicy: (_ctx, client, token) =>
        client.clientAuthMethod !== 'none' && client.clientId === token.clientId,
    },
    deviceFlow: {
      enabled: true,
      charset: 'base-20',
      mask: '****-****',
      deviceInfo: (ctx) => ({ ip: ctx.ip, ua: ctx.get('User-Agent').slice(0, LONGEST_AGENT) }),
    },
    dPoP: {
      enabled: true,
      // token/proofs.ts detects replays by key and jti, for all clients, before a code or token is used up.
      allowReplay: true,
      nonceSecret: derivedKey(master, 'countersign authz dpop nonce'),
      requireNonce: () => config.tokens.nonce,
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: (ctx, client, oneOf) => known.defaultResource(ctx, client, oneOf) ?? '',
      useGrantedResource: () => true,
      getResourceServerInfo: known.resourceServer,
    },
  };
}

/** The most characters of a device's user agent that are stored; a person would not read more. */
const LONGEST_AGENT = 256;
