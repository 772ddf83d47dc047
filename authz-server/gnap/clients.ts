import { isObject } from '#shared/jose/compact-jws.ts';
import { BadKey, clientIdOf, type GnapKey, readKey } from '#shared/gnap/key.ts';
import { keyInDirectory } from '#shared/people/key-purposes.ts';
import type {
  ClientRecord,
  GnapRegistration,
  RegisteredKey,
} from '#shared/stores/oauth/clients.ts';
import { gnapSpaces } from '#shared/config/token-spaces.ts';
import { GnapError } from './gnap-error.ts';
import type { GrantRequest } from './grant-request.ts';
import type { AskingClient } from './records.ts';
import type { GnapServer } from './server.ts';

/** A client that sends a request, before the client has proved its key. */
export interface FoundClient {
  readonly asking: AskingClient;
  readonly key: GnapKey;
  readonly record: ClientRecord;
}

/**
 * Finds a client by its instance identifier or by its key. For a key that is not registered it makes a record that is
 * not stored, if the configuration lets any client ask. Throws `GnapError`.
 */
export async function findClient(
  server: Pick<GnapServer, 'config' | 'stores' | 'clock' | 'demoClients'>,
  client: GrantRequest['client'],
): Promise<FoundClient> {
  // The order matters: a client that proves a key which is replaced before the client ends gets no access of a later
  // generation.
  const generationOf = (id: string) => server.stores.revocations.generation('client', id);
  if (typeof client === 'string') {
    const generation = await generationOf(client);
    const record = await registered(server, client);
    if (record === undefined) throw unknown('no such instance identifier');
    return foundOf(record, generation);
  }
  const key = keyOf(client.key);
  const clientId = clientIdOf(key);
  const generation = await generationOf(clientId);
  const known = await registered(server, clientId);
  if (known !== undefined) return foundOf(known, generation);
  if (server.config.gnap?.clients !== 'anybody') throw unknown('nobody registered this key');
  const registration = registrationOf(client.key, key);
  await refuseOtherUse(server, registration);
  const { name } = client.display ?? {};
  const asking = {
    clientId,
    key: registration,
    generation,
    ...(name !== undefined && { name }),
  };
  return { asking, key, record: recordOf(server, asking) };
}

type Registered = ClientRecord & { readonly gnap: GnapRegistration };

/**
 * Finds the record of a client that may ask now: a client that the operator registered, or, while the configuration
 * lets any client ask, one that a person has allowed.
 */
export async function registered(
  { config, stores, demoClients }: Pick<GnapServer, 'config' | 'stores' | 'demoClients'>,
  clientId: string,
): Promise<Registered | undefined> {
  const record = await stores.clients.get(clientId);
  if (record?.gnap === undefined || (record.demo === true && !demoClients)) return undefined;
  if (record.gnap.unknown && config.gnap?.clients !== 'anybody') return undefined;
  return { ...record, gnap: record.gnap };
}

function foundOf(record: Registered, generation: number): FoundClient {
  const { client_id: clientId, gnap } = record;
  return { asking: { clientId, key: gnap.key, generation }, key: readKey(gnap.key), record };
}

/**
 * Finds the client that asked for a grant, registered or not. Resolves to undefined if the client was removed since
 * then, even if it is registered again, or if unknown clients may not ask any more.
 */
export async function clientOf(
  server: Pick<GnapServer, 'config' | 'stores' | 'clock' | 'demoClients'>,
  asking: AskingClient,
): Promise<ClientRecord | undefined> {
  const { clientId, generation } = asking;
  const now = await server.stores.revocations.generation('client', clientId);
  if (now !== generation) return undefined;
  const known = await registered(server, clientId);
  if (known !== undefined) return known;
  return server.config.gnap?.clients === 'anybody' ? recordOf(server, asking) : undefined;
}

/** Returns the record of an unregistered client. It is stored when a person allows something. */
function recordOf(
  { config, clock }: Pick<GnapServer, 'config' | 'clock'>,
  { clientId, key, name }: Omit<AskingClient, 'generation'>,
): ClientRecord {
  const scopes = new Set(
    gnapSpaces(config).flatMap(({ scopes: needed }) => Object.values(needed).flat()),
  );
  return {
    client_id: clientId,
    client_name: name ?? clientId,
    grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
    token_endpoint_auth_method: 'none',
    scope: [...scopes, 'openid', 'email'].join(' '),
    gnap: { key, unknown: true },
    created_at: clock.now(),
  };
}

/** Reads a key that a client sends. Throws `GnapError`. */
function keyOf(key: unknown): GnapKey {
  try {
    return readKey(key);
  } catch (error) {
    throw error instanceof BadKey ? unknown(error.message) : error;
  }
}

/**
 * Returns a key in the form in which it is stored: with the canonical spelling of its numbers and without other
 * members.
 */
export function registrationOf(value: unknown, key: GnapKey): RegisteredKey {
  if (key.proof === 'mtls') return { proof: 'mtls', 'cert#S256': key.thumbprint };
  const { proof, jwk } = value as { proof: unknown; jwk: { readonly alg: string } };
  const own = { ...key.key.export({ format: 'jwk' }), kid: key.kid, alg: jwk.alg };
  if (!isObject(proof)) return { proof, jwk: own };
  const { method, alg } = proof;
  const digest = proof['content-digest-alg'];
  return { proof: { method, alg, 'content-digest-alg': digest }, jwk: own };
}

/**
 * Throws `GnapError` for a key that is registered for sign-in, since no key is used in two protocols (RFC 9729 section
 * 8).
 */
export async function refuseOtherUse(
  { stores }: Pick<GnapServer, 'stores'>,
  key: RegisteredKey,
): Promise<void> {
  if ('jwk' in key && (await keyInDirectory(stores, key.jwk))) {
    throw unknown('the key has another use here');
  }
}

const unknown = (description: string) => new GnapError('invalid_client', description);
