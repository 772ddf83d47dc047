import type { AdapterPayload, Client } from 'oidc-provider';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';

/**
 * Members of a client that only Countersign has. The engine stores them beside those of RFC 7591
 * (`extraClientMetadata`).
 */
export const EXTRA_CLIENT_METADATA = [
  'default_scope',
  'former_secret',
  'generation',
  'resources',
  'introspects',
  'allowed_scope',
  'origins',
  'pkce',
  'profile',
  'describes_itself',
  'is_unknown',
  'claim_rules',
];

/**
 * A stored client in the format of the engine. `client_secret` is the hash of the secret, since authentication hashes
 * the secret that it gets. The engine's member `scope` has only the scopes of OpenID Connect, so the scopes of
 * resources are in `allowed_scope`.
 */
export function clientMetadata(client: ClientRecord): AdapterPayload {
  const isPublic = client.token_endpoint_auth_method === 'none';
  return {
    client_id: client.client_id,
    client_name: client.client_name,
    // RFC 6749 section 4.4 permits the client credentials grant only to clients with credentials.
    grant_types: client.grant_types.filter((type) => !(isPublic && type === 'client_credentials')),
    response_types: client.grant_types.includes('authorization_code') ? ['code'] : [],
    redirect_uris: [...(client.redirect_uris ?? [])],
    post_logout_redirect_uris: [...(client.post_logout_redirect_uris ?? [])],
    application_type: client.application_type ?? 'web',
    origins: [...(client.origins ?? [])],
    token_endpoint_auth_method: client.token_endpoint_auth_method,
    allowed_scope: client.scope,
    default_scope: client.default_scope ?? client.scope,
    ...(client.secret_hash !== undefined && { client_secret: client.secret_hash }),
    ...(client.former_secret !== undefined && { former_secret: client.former_secret }),
    ...(client.id_token_signed_response_alg !== undefined && {
      id_token_signed_response_alg: client.id_token_signed_response_alg,
    }),
    ...(client.backchannel_logout_uri !== undefined && {
      backchannel_logout_uri: client.backchannel_logout_uri,
      // ID tokens then have `sid`.
      backchannel_logout_session_required: true,
    }),
    ...(client.pkce !== undefined && { pkce: client.pkce }),
    ...(client.profile !== undefined && {
      profile: client.profile,
      dpop_bound_access_tokens: true,
      require_pushed_authorization_requests: true,
    }),
    ...(client.jwks !== undefined && { jwks: client.jwks }),
    ...(client.resources !== undefined && { resources: [...client.resources] }),
    ...(client.introspects !== undefined && { introspects: [...client.introspects] }),
    ...(client.claim_rules !== undefined && { claim_rules: [...client.claim_rules] }),
  };
}

/** Returns the rules for claims of the engine's client. */
export const rulesOf = (client: Client | undefined) =>
  client?.['claim_rules'] as readonly string[] | undefined;
