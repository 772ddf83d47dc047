import * as z from 'zod';
import { apiKey, isSecretHash, VERSION } from '#shared/people/file/directory-file.ts';
import { checked, personMembers, time } from '#shared/people/file/person-schema.ts';
import { visibleName } from '#shared/people/file/public-key-schema.ts';
import { httpsOrigin, realmName } from '#shared/base/members.ts';
import {
  AUTH_METHODS,
  documentAddress,
  registration,
} from '#shared/operations/clients/client-add.ts';

const file = z.string().min(1);

const person = z.strictObject({
  ...personMembers,
  id: personMembers.id.exactOptional(),
  created_at: time.exactOptional(),
});

const { public: _, native: __, gnap_key: ___, gnap_bearer: ____, ...ofOAuth } = registration.shape;

/**
 * The key of a GNAP client, as it is stored (RFC 9635 section 7.1). It has no `cert`, since the digest of the
 * certificate is enough.
 */
const gnap = z.strictObject({
  key: z.union([
    z.strictObject({ proof: z.unknown(), jwk: z.record(z.string(), z.unknown()) }),
    z.strictObject({ proof: z.literal('mtls'), 'cert#S256': z.string() }),
  ]),
  bearer: z.literal(true).exactOptional(),
});

/** A client: the members of `client add`, and the members that `client add` chooses itself. */
const client = z.strictObject({
  client_id: z
    .string()
    .regex(/^\w[\w.-]{0,63}$/, 'must be 1 to 64 ASCII letters, digits and . _ -'),
  ...ofOAuth,
  token_endpoint_auth_method: z.enum([...AUTH_METHODS, 'none']).default(AUTH_METHODS[0]),
  application_type: z.enum(['web', 'native']).default('web'),
  secret_hash: checked(isSecretHash, 'SHA-256 of the secret in base64url').exactOptional(),
  secret_file: file.exactOptional(),
  gnap: gnap.exactOptional(),
  demo: z.boolean().exactOptional(),
  created_at: time.exactOptional(),
});

/** A client with a Client ID Metadata Document, which has all other members. */
const documentClient = z.strictObject({ document: documentAddress });

const key = apiKey.extend({
  id: apiKey.shape.id.exactOptional(),
  secret_hash: apiKey.shape.secret_hash.exactOptional(),
  key_file: file.exactOptional(),
  created_at: time.exactOptional(),
});

/** A public key: as `directory export` writes it, or in PEM or as a JWK. Its owner may be a person's name. */
const publicKey = z.strictObject({
  id: z.string().exactOptional(),
  scheme: z.enum(['Concealed', 'HOBA']),
  owner: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('person'),
      id: personMembers.id.exactOptional(),
      name: personMembers.name.exactOptional(),
    }),
    z.strictObject({ kind: z.literal('application'), id: visibleName }),
  ]),
  spki: z.string().exactOptional(),
  public_key: z.string().max(8192, 'must be at most 8192 characters').exactOptional(),
  name: visibleName,
  origin: httpsOrigin.exactOptional(),
  created_at: time.exactOptional(),
  used_at: time.exactOptional(),
  signed_out_at: time.exactOptional(),
});

/**
 * The file of `countersign apply`. It has the members of `directory export` without passwords, passkeys and second
 * factors.
 */
export const declaredFile = z.strictObject({
  $schema: z.string().exactOptional(),
  countersign_directory: z.literal(VERSION).exactOptional(),
  realms: z.array(realmName).default([]),
  people: z.array(person).default([]),
  clients: z.array(z.union([documentClient, client])).default([]),
  api_keys: z.array(key).default([]),
  public_keys: z.array(publicKey).default([]),
});

export type DeclaredPerson = z.output<typeof person>;
export type DeclaredClient = z.output<typeof client>;
export type DeclaredKey = z.output<typeof key>;
export type DeclaredPublicKey = z.output<typeof publicKey>;
export type DeclaredFile = z.output<typeof declaredFile>;
