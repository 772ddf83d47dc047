import * as z from 'zod';
import { LEVELS } from '#shared/jose/acr.ts';
import { type ClientRecord, PKCE_MODES, PROFILES } from '#shared/stores/oauth/clients.ts';
import type { Told } from '../operation.ts';

const texts = z.array(z.string());

/** A client without its credentials. Its members are those of RFC 7591 section 2, and our own. */
export const clientSchema = z.strictObject({
  client_id: z.string(),
  client_name: z.string(),
  logo_uri: z.string().exactOptional(),
  grant_types: texts,
  token_endpoint_auth_method: z.string(),
  former_secret_until: z
    .number()
    .exactOptional()
    .describe('when the previous secret expires, in milliseconds since the epoch'),
  jwks: z
    .strictObject({ keys: z.array(z.record(z.string(), z.unknown())) })
    .exactOptional()
    .describe('the public keys of the client (RFC 7517)'),
  scope: z.string().describe('all scopes that the client may request'),
  default_scope: z.string().exactOptional(),
  resources: texts.exactOptional(),
  redirect_uris: texts.exactOptional(),
  post_logout_redirect_uris: texts.exactOptional(),
  backchannel_logout_uri: z.string().exactOptional(),
  start_url: z.string().exactOptional(),
  application_type: z.enum(['web', 'native']).exactOptional(),
  id_token_signed_response_alg: z.string().exactOptional(),
  pkce: z.enum(PKCE_MODES).exactOptional(),
  profile: z.enum(PROFILES).exactOptional(),
  origins: texts.exactOptional(),
  introspects: texts.exactOptional(),
  claim_rules: texts.exactOptional(),
  first_party: z.boolean().exactOptional(),
  allow_groups: texts.exactOptional(),
  allow_people: texts.exactOptional(),
  minimum_acr: z.enum(LEVELS).exactOptional(),
  admin: z
    .boolean()
    .exactOptional()
    .describe('whether the client may administer this server without a person'),
  gnap: z
    .strictObject({
      key: z.record(z.string(), z.unknown()),
      bearer: z.boolean().exactOptional(),
      unknown: z.boolean().exactOptional(),
    })
    .exactOptional()
    .describe('present if the client uses GNAP'),
  document: z
    .strictObject({
      fetched: z.number(),
      until: z.number(),
      changed: z.number(),
      public_since: z.number().exactOptional().describe('when the document last dropped all keys'),
      registered: z.literal(true).exactOptional(),
    })
    .exactOptional()
    .describe('present if the client_id is the URL of a document, with the time of its last fetch'),
  demo: z.boolean().exactOptional(),
  created_at: z.number().describe('milliseconds since the epoch'),
});

/** A client as operators see it. */
export type ShownClient = Told<typeof clientSchema>;

/** Returns a client as operators see it. */
export function shownClient(client: ClientRecord): ShownClient {
  const { secret_hash: _, former_secret, withdrawn_scopes: __, gnap, ...shown } = client;
  return {
    ...shown,
    ...(former_secret && { former_secret_until: former_secret.until }),
    ...(gnap && { gnap: { ...gnap, key: { ...gnap.key } } }),
  };
}
