import * as z from 'zod';
import { isDocumentUrl } from '#shared/client-documents/document-url.ts';
import { withRights } from '#shared/client-documents/record.ts';
import type { Config } from '#shared/config/schema.ts';
import { newSecret } from '#shared/people/client-secret.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { Conflict, InputError, operation } from '../operation.ts';
import { SPELLINGS } from '../texts.ts';
import { clientMembers, ID_TOKEN_ALGS, visibleName } from './client-members.ts';
import { clientFromDocument } from './client-from-document.ts';
import { clientSchema, shownClient } from './client-shown.ts';
import { checkRedirects, checkSpaces, refuseContradictions } from './client-rules.ts';
import { checkScopes } from './client-scopes.ts';
import { type GnapMembers, gnapMembers } from './gnap-members.ts';
import { grantTypes } from './grant-types.ts';
import { writeUnlessKeysOfPeople } from './keys-of-client.ts';
import { allNotes, notes } from './notes.ts';
import { publicJwks } from './public-jwks.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

/** The authentication methods of a confidential client; the first is the default. */
export const AUTH_METHODS = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const;

const flag = z.boolean().default(false);

/** The members of a client that its operator describes. */
export const registration = z.strictObject({
  client_name: visibleName
    .describe('the name of the client that people see')
    .register(SPELLINGS, { option: 'name', value: 'NAME' }),
  grant_types: grantTypes,
  public: flag.describe(
    'a client in a browser or on a device, which cannot keep a secret and gets no secret',
  ),
  token_endpoint_auth_method: z
    .enum(AUTH_METHODS)
    .exactOptional()
    .describe(`${AUTH_METHODS.join(', ')}; default: ${AUTH_METHODS[0]}`)
    .register(SPELLINGS, { option: 'auth', value: 'METHOD' }),
  jwks: publicJwks,
  gnap_key: z
    .string()
    .max(32_768, fault(said('too-long', { most: 32_768 })))
    .exactOptional()
    .describe('the client uses GNAP with this public JWK, or this certificate in PEM'),
  gnap_bearer: flag.describe('the client may get GNAP tokens that are bound to no key'),
  native: flag.describe('an installed application: loopback redirect URIs may have any port'),
  ...clientMembers,
});

type Registration = z.output<typeof registration>;

export const documentAddress = z.string().refine(isDocumentUrl, fault(said('document-url')));

const { client_name, grant_types } = registration.shape;

const input = registration.extend({
  client_name: client_name.exactOptional().register(SPELLINGS, SPELLINGS.get(client_name)!),
  grant_types: grant_types.exactOptional().register(SPELLINGS, SPELLINGS.get(grant_types)!),
  document: documentAddress
    .exactOptional()
    .describe("the URL of the client's Client ID Metadata Document, in place of all other options")
    .register(SPELLINGS, { value: 'URL' }),
});

/**
 * Registers a client, a new one each time. A GNAP client is identified by its key, and a client with a document by
 * the document's address, so these exist only once.
 */
export const addClient = operation({
  name: 'client add',
  summary: 'register a client; prints its identifier and its secret (shown only this once)',
  effect: 'changes',
  input,
  operands: [],
  output: z.strictObject({
    client_id: z.string(),
    client_secret: z.string().exactOptional().describe('shown only this once'),
    client: clientSchema.exactOptional().describe('the client as its document describes it'),
    notes,
  }),
  check(asked, config) {
    if (asked.document === undefined) described(registrationOf(asked), config);
    else refuseOthers(asked);
  },
  async run(asked, house) {
    const { stores, config, recorder, clock, random } = house;
    if (asked.document !== undefined) {
      const client = withRights(config, await clientFromDocument(asked.document, house));
      const { client_id, resources = [] } = client;
      const shown = { client_id, client: shownClient(client) };
      return resources.length > 0 ? shown : { ...shown, notes: [NOTHING_OPEN] };
    }
    const { members, notes: own } = described(registrationOf(asked), config);
    const { secret, ...proof } = needsSecret(members) ? newSecret(random) : { secret: undefined };
    const client_id = random(16).toString('hex');
    const client: ClientRecord = { client_id, ...members, ...proof, created_at: clock.now() };
    const changing = (kind: 'client.added' | 'client.removed') =>
      recorder.changing('clients', { kind, client: client.client_id });
    const isAdded = await writeUnlessKeysOfPeople(stores.publicKeys, client, {
      write: () => changing('client.added').add(client),
      undo: () => changing('client.removed').remove(client.client_id, client),
    });
    if (!isAdded) {
      throw new Conflict(
        client.gnap
          ? said('client-has-key', { client: client.client_id })
          : said('identifier-taken'),
      );
    }
    return {
      client_id: client.client_id,
      ...(secret !== undefined && { client_secret: secret }),
      ...(await allNotes(client, stores, own)),
    };
  },
});

/** The note on a client with a document if the configuration opens no space to such clients. */
export const NOTHING_OPEN =
  'no space has documentClients: the client may ask for the name and the address of a person alone';

/** Returns an operator's description of a client. Throws `InputError` if a member is missing. */
function registrationOf(asked: z.output<typeof input>): Registration {
  const { client_name: name, grant_types: grants, document: _, ...rest } = asked;
  if (name === undefined) throw new InputError(['client_name'], said('missing'));
  if (grants === undefined) throw new InputError(['grant_types'], said('missing'));
  return { ...rest, client_name: name, grant_types: grants };
}

/** Throws `InputError` for a member that only the document may have. */
function refuseOthers(asked: z.output<typeof input>): void {
  const isOther = ([member, value]: [string, unknown]) => member !== 'document' && value !== false;
  const other = Object.entries(asked).find(isOther);
  if (other) throw new InputError([other[0]], said('document-says'));
}

/**
 * Returns the members of a client before it is registered, with notes. `kept`: the members of a GNAP client whose key
 * is known already. Throws `InputError`.
 */
export function described(asked: Registration, config: Config, kept?: GnapMembers) {
  const { public: isPublic, native, gnap_key, gnap_bearer, jwks, ...more } = asked;
  refuseContradictions({ ...asked, gnap: gnap_key ?? kept });
  checkSpaces(asked, config);
  checkRedirects(asked, native);
  const isFapi = asked.profile === 'fapi2';
  const usual = isFapi ? 'private_key_jwt' : AUTH_METHODS[0];
  const { token_endpoint_auth_method: method = usual, ...rest } = more;
  if (!isPublic && (method === 'private_key_jwt') !== (jwks !== undefined)) {
    throw new InputError(['token_endpoint_auth_method'], said('jwks-with-method'));
  }
  const members = {
    scope: '',
    id_token_signed_response_alg: isFapi ? ('ES256' as const) : ID_TOKEN_ALGS[0],
    ...withoutFalse(rest),
    token_endpoint_auth_method: isPublic ? ('none' as const) : method,
    ...(jwks !== undefined && { jwks }),
    ...(native && { application_type: 'native' as const }),
    ...(gnap_key === undefined ? kept : gnapMembers(gnap_key, gnap_bearer)),
  };
  return { members, ...checkScopes(members, config) };
}

const needsSecret = ({
  token_endpoint_auth_method: method,
}: Pick<ClientRecord, 'token_endpoint_auth_method'>) =>
  method === 'client_secret_basic' || method === 'client_secret_post';

/** Returns the members without those that are false, which are stored as absent. */
const withoutFalse = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== false)) as T;
