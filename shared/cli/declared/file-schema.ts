import { z } from 'zod';
import { apiKey, isSecretHash } from '#shared/people/file/directory-file.ts';
import { checked, personMembers, time } from '#shared/people/file/person-schema.ts';
import { realmName } from '#shared/base/members.ts';
import { AUTH_METHODS, registration } from '#shared/operations/clients/client-add.ts';

const file = z.string().min(1);

const person = z.strictObject({
  ...personMembers,
  id: personMembers.id.exactOptional(),
  created_at: time.exactOptional(),
});

const { public: _, native: __, gnap_key: ___, gnap_bearer: ____, ...ofOAuth } = registration.shape;

/** A client of OAuth: what `client add` takes, and what that decides itself. */
const client = z.strictObject({
  client_id: z
    .string()
    .regex(/^\w[\w.-]{0,63}$/, 'must be 1 to 64 ASCII letters, digits and . _ -'),
  ...ofOAuth,
  token_endpoint_auth_method: z.enum([...AUTH_METHODS, 'none']).default(AUTH_METHODS[0]),
  application_type: z.enum(['web', 'native']).default('web'),
  secret_hash: checked(isSecretHash, 'SHA-256 of the secret in base64url').exactOptional(),
  secret_file: file.exactOptional(),
  demo: z.boolean().exactOptional(),
  created_at: time.exactOptional(),
});

const key = apiKey.extend({
  id: apiKey.shape.id.exactOptional(),
  secret_hash: apiKey.shape.secret_hash.exactOptional(),
  key_file: file.exactOptional(),
  created_at: time.exactOptional(),
});

/** The file of `countersign apply`. Its members are those of `directory export`, without what lets people in. */
export const declaredFile = z.strictObject({
  $schema: z.string().exactOptional(),
  countersign_directory: z.literal(6).exactOptional(),
  realms: z.array(realmName).default([]),
  people: z.array(person).default([]),
  clients: z.array(client).default([]),
  api_keys: z.array(key).default([]),
});

export type DeclaredPerson = z.output<typeof person>;
export type DeclaredClient = z.output<typeof client>;
export type DeclaredKey = z.output<typeof key>;
export type DeclaredFile = z.output<typeof declaredFile>;
