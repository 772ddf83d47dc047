import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import type { Config } from '#shared/config/schema.ts';
import { newPassword } from '#shared/people/new-password.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson, type PeopleStore } from '#shared/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { EXCHANGES } from './exchanges.ts';
import { CLIENT, GROUP, type Person, SIGNS_IN } from './browser.ts';
import { DEVICE_CODE } from './checks/device-flow.ts';
import { pagePath, spacePath } from './spaces.ts';

/** The exchanges with the authorization server. Each has its own space and URL. */
const FLOWS = EXCHANGES.filter(({ ofPair }) => ofPair);

type Origins = Pick<Config, 'issuer' | 'resource'>;

/** The URLs of the spaces that accept tokens of the authorization server (RFC 8707). */
export const resourcesOfPair = ({ resource }: Pick<Config, 'resource'>): readonly string[] =>
  FLOWS.map((flow) => resource + spacePath(flow));

/** The redirect URI of the client: a page of the playground, which does not read the code. */
export const redirectUriAt = ({ resource }: Pick<Config, 'resource'>): string =>
  resource + pagePath({ name: 'authorization-code' });

/** The configuration of the playground's authorization server. `data`: the folder of the store. */
export const authzMembers = ({ issuer, resource }: Origins, data: string) => ({
  issuer,
  resource,
  data,
  playground: false,
  listen: { authz: { host: '127.0.0.1', port: 0 } },
  // Only the resource server of the playground reaches the authorization server.
  trustedProxies: ['127.0.0.1'],
  server: { drain: 0 },
  // The audit log is kept for the shortest time, since strangers fill it and it has no readers.
  audit: { keep: 1 },
  spaces: resourcesOfPair({ resource }).map((url) => ({
    url,
    realm: url,
    schemes: ['Bearer'],
    scopes: { safe: [PLAYGROUND_SCOPE], unsafe: [PLAYGROUND_SCOPE] },
    serves: 'identity',
  })),
});

/** The credentials of the client and of the person, which no page shows. */
export interface Registered {
  readonly clientKey: KeyObject;
  readonly person: Person;
}

/** Registers the client and the person of the playground in the store of its authorization server. */
export async function registerAtPair(
  { stores, clock, random }: Pick<PeopleStore, 'clock' | 'random'> & { readonly stores: Stores },
  config: Config,
): Promise<Registered> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await stores.clients.add({
    client_id: CLIENT,
    client_name: 'Playground',
    grant_types: ['client_credentials', 'authorization_code', DEVICE_CODE],
    redirect_uris: [redirectUriAt(config)],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'Ed25519', use: 'sig' }] },
    scope: PLAYGROUND_SCOPE,
    resources: resourcesOfPair(config),
    created_at: clock.now(),
  });
  const person = { name: SIGNS_IN, password: newPassword(random) };
  const passwords = createPasswords();
  const people = { stores, clock, random, passwords, realms: [], longestLife: longestLife(config) };
  await addPerson(people, { ...person, profile: { groups: [GROUP] } });
  return { clientKey: privateKey, person };
}
