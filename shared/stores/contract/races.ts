import { randomId, systemRandom } from '#shared/random.ts';
import type { ApiKeyRecord } from '../api-keys.ts';
import type { ClientRecord } from '../clients.ts';
import type { DocumentRow } from '../documents.ts';
import type { StoredKey } from '../keys.ts';
import type { PersonRecord } from '../people.ts';
import type { Stores } from '../stores.ts';

/** Many attempts at one thing, by several processes at once; each says whether it won. */
interface Race {
  /** Puts there what the attempts are about, and names it. */
  readonly prepare: (stores: Stores) => Promise<string>;
  readonly attempt: (stores: Stores, key: string) => Promise<boolean>;
  /** How many attempts win, whatever their number. */
  readonly winners: number;
}

export const fresh = (): string => randomId(systemRandom);

export const someClient = (client_id: string): ClientRecord => ({
  client_id,
  client_name: 'Batch job',
  grant_types: ['client_credentials'],
  token_endpoint_auth_method: 'client_secret_basic',
  secret_hash: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  scope: 'documents:read documents:write',
  created_at: 1_800_000_000,
});

export const somePerson = (name: string): PersonRecord => ({
  id: fresh(),
  name,
  password_hash: '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$aGFzaA',
  created_at: 1_800_000_000,
  version: 0,
});

export const someApiKey = (id: string): ApiKeyRecord => ({
  id,
  application: 'Weather station',
  realm: 'api',
  secret_hash: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  scopes: ['documents:read'],
  created_at: 1_800_000_000_000,
});

export const someKey = (kid: string, alg: StoredKey['alg']): StoredKey => ({
  kid,
  alg,
  publicJwk: { kty: 'OKP', kid },
  sealed: 'sealed',
  publishedAt: 1_800_000_000_000,
  signsFrom: 1_800_000_360_000,
});

export const someDocument = (path: string, etag: string): DocumentRow => ({
  path,
  etag,
  type: 'text/plain; charset=utf-8',
  length: 12,
  modified: 1_800_000_000_123,
  file: `file-${etag}`,
});

export const BURST = 20;

export const RACES = {
  unique: {
    prepare: async () => fresh(),
    attempt: (stores, key) => stores.replay.unique('race', key, 60),
    winners: 1,
  },
  'use a count': {
    prepare: async () => fresh(),
    attempt: (stores, key) => stores.useCounts.use('race', key, 7, 60),
    winners: 1,
  },
  consume: {
    prepare: async (stores) => {
      const id = fresh();
      await stores.artefacts.put({ kind: 'AuthorizationCode', id, payload: {}, seconds: 60 });
      return id;
    },
    attempt: async (stores, id) =>
      (await stores.artefacts.consume('AuthorizationCode', id)) === 'first',
    winners: 1,
  },
  'decide about a device code': {
    prepare: async (stores) => {
      const id = fresh();
      const payload = { userCode: id };
      await stores.artefacts.put({ kind: 'DeviceCode', id, payload, seconds: 60 });
      return id;
    },
    attempt: (stores, id) =>
      stores.artefacts.replace(
        { kind: 'DeviceCode', id, payload: { userCode: id, grantId: fresh() }, seconds: 60 },
        { userCode: id },
      ),
    winners: 1,
  },
  take: {
    prepare: (stores) => stores.sessions.put('value', 60),
    attempt: async (stores, id) => (await stores.sessions.take(id)) === 'value',
    winners: 1,
  },
  spend: {
    prepare: async () => fresh(),
    attempt: async (stores, key) =>
      (await stores.limits.spend('race', key, { burst: BURST, per: 3600 })).ok,
    winners: BURST,
  },
  'add a client': {
    prepare: async () => fresh(),
    attempt: (stores, id) => stores.clients.add(someClient(id)),
    winners: 1,
  },
  'add a person of a name': {
    prepare: async () => fresh(),
    attempt: (stores, name) => stores.people.add(somePerson(name)),
    winners: 1,
  },
  'add a person of an id': {
    prepare: async () => fresh(),
    attempt: (stores, id) => stores.people.add({ ...somePerson(fresh()), id }),
    winners: 1,
  },
  'change a person': {
    prepare: async (stores) => {
      const person = somePerson(fresh());
      await stores.people.add(person);
      return person.id;
    },
    attempt: (stores, id) => stores.people.replace({ ...somePerson(fresh()), id, version: 1 }),
    winners: 1,
  },
  'add a person of an alias': {
    prepare: async () => fresh(),
    attempt: (stores, alias) => stores.people.add({ ...somePerson(fresh()), aliases: [alias] }),
    winners: 1,
  },
  'give an alias by a change': {
    prepare: async () => fresh(),
    attempt: async (stores, alias) => {
      const person = somePerson(fresh());
      await stores.people.add(person);
      return stores.people.replace({ ...person, aliases: [alias], version: 1 });
    },
    winners: 1,
  },
  'add an API key': {
    prepare: async () => fresh(),
    attempt: (stores, id) => stores.apiKeys.add(someApiKey(id)),
    winners: 1,
  },
  'remove an API key': {
    prepare: async (stores) => {
      const id = fresh();
      await stores.apiKeys.add(someApiKey(id));
      return id;
    },
    attempt: (stores, id) => stores.apiKeys.remove(id),
    winners: 1,
  },
  'add the first key of an alg': {
    prepare: async (stores) => {
      for (const { kid } of await stores.keys.list()) await stores.keys.remove(kid);
      return fresh();
    },
    attempt: (stores) => stores.keys.add(someKey(fresh(), 'EdDSA'), 'EdDSA'),
    winners: 1,
  },
  'create a document': {
    prepare: async () => fresh(),
    attempt: async (stores, path) =>
      (await stores.documents.put('race', someDocument(path, fresh()), 'absent')).kind ===
      'changed',
    winners: 1,
  },
  'replace a document': {
    prepare: async (stores) => {
      const path = fresh();
      await stores.documents.put('race', someDocument(path, 'v1'), 'absent');
      return path;
    },
    attempt: async (stores, path) =>
      (await stores.documents.put('race', someDocument(path, fresh()), { etag: 'v1' })).kind ===
      'changed',
    winners: 1,
  },
  'remove a document': {
    prepare: async (stores) => {
      const path = fresh();
      await stores.documents.put('race', someDocument(path, 'v1'), 'absent');
      return path;
    },
    attempt: async (stores, path) =>
      (await stores.documents.remove('race', path, { etag: 'v1' })).kind === 'changed',
    winners: 1,
  },
} satisfies Readonly<Record<string, Race>>;

export type RaceName = keyof typeof RACES;

/** Namespaces and keys that are all different, however they are joined. */
export const shifted = (tail: string): readonly (readonly [namespace: string, key: string])[] => [
  ['a', `b:${tail}`],
  ['a:b', tail],
  ['a', `b\u0000${tail}`],
  ['a\u0000b', tail],
  ['a","b', tail],
  ['ab', tail],
  ['a', `b${tail}`],
];
