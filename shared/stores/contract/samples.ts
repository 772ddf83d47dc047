import type { TokenType } from '#shared/private-token/token-types.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import type { ApiKeyRecord } from '../credentials/api-keys.ts';
import type { ClientRecord } from '../oauth/clients.ts';
import type { Invalidation } from '../cache/invalidations.ts';
import type { StoredKey } from '../keys/keys.ts';
import type { PasskeyRecord } from '../credentials/passkeys.ts';
import type { PersonRecord, VerifierRow } from '../people/people.ts';
import type { PublicKeyRecord } from '../credentials/public-keys.ts';
import type { OutboxMessage } from '../mail/outbox.ts';
import type { SecondFactorRecord } from '../credentials/second-factors.ts';
import type { Stores } from '../stores.ts';
import type { StoredTokenKey } from '../keys/token-keys.ts';
import type {
  Collection,
  CommitOutcome,
  Document,
  Edit,
  Entry,
  Lock,
  Quota,
} from '../trees/trees.ts';

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

export async function everybodyIn({ people }: Pick<Stores, 'people'>): Promise<PersonRecord[]> {
  const everybody: PersonRecord[] = [];
  for await (const slice of people.list()) everybody.push(...slice);
  return everybody;
}

export const someVerifier = (
  realm: string,
  changes: Partial<VerifierRow> = {},
): VerifierRow & { handle: string } => ({
  kind: 'proof one',
  realm,
  value: fresh(),
  ...changes,
  handle: changes.handle ?? fresh(),
});

export const someApiKey = (id: string): ApiKeyRecord => ({
  id,
  application: 'Weather station',
  realm: 'api',
  secret_hash: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  scopes: ['documents:read'],
  created_at: 1_800_000_000_000,
});

export const someInvalidation = (
  value: string,
  changes: Partial<Invalidation> = {},
): Invalidation => ({ space: '/app', kind: 'target', value, soft: false, ...changes });

/** Returns a public key of a person who has no other. */
export const somePublicKey = (id: string): PublicKeyRecord => ({
  id,
  scheme: 'Concealed',
  owner: { kind: 'person', id: `owner of ${id}` },
  spki: 'MCowBQYDK2VwAyEA11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  name: 'Laptop',
  created_at: 1_800_000_000_000,
});

export async function publicKeysIn({
  publicKeys,
}: Pick<Stores, 'publicKeys'>): Promise<PublicKeyRecord[]> {
  const all: PublicKeyRecord[] = [];
  for await (const slice of publicKeys.list()) all.push(...slice);
  return all;
}

/** Returns a passkey of a person who has no other. */
export const somePasskey = (id: string): PasskeyRecord => ({
  id,
  accountId: `owner of ${id}`,
  publicKey: 'pQECAyYgASFYIGVZtYD0hz0',
  rpId: 'auth.example',
  counter: 7,
  backupEligible: true,
  backedUp: true,
  name: 'Laptop',
  created_at: 1_800_000_000_000,
});

export async function passkeysIn({ passkeys }: Pick<Stores, 'passkeys'>): Promise<PasskeyRecord[]> {
  const all: PasskeyRecord[] = [];
  for await (const slice of passkeys.list()) all.push(...slice);
  return all;
}

export const someOutboxMessage = (id: string): OutboxMessage => ({
  id,
  accountId: `owner of ${id}`,
  kind: 'recovery',
  language: 'de',
  created_at: 1_800_000_000_000,
  until: 1_800_000_900_000,
});

export const someSecondFactor = (accountId: string): SecondFactorRecord => ({
  accountId,
  id: `set-up of ${accountId}`,
  sealed: 'sealed',
  step: 7,
  recovery: ['mac 1', 'mac 2'],
  created_at: 1_800_000_000_000,
});

export async function secondFactorsIn({
  secondFactors,
}: Pick<Stores, 'secondFactors'>): Promise<SecondFactorRecord[]> {
  const all: SecondFactorRecord[] = [];
  for await (const slice of secondFactors.list()) all.push(...slice);
  return all;
}

export const someKey = (kid: string, alg: StoredKey['alg']): StoredKey => ({
  kid,
  alg,
  publicJwk: { kty: 'OKP', kid },
  sealed: 'sealed',
  publishedAt: 1_800_000_000_000,
  signsFrom: 1_800_000_360_000,
});

/** Returns a new token key at each call. `truncated` is the last octet of its id. */
export const someTokenKey = (
  type: TokenType,
  truncated: number,
  changes: Partial<StoredTokenKey> = {},
): StoredTokenKey => ({
  type,
  id: Buffer.concat([systemRandom(31), Buffer.of(truncated)]).toString('base64url'),
  publicKey: systemRandom(49).toString('base64url'),
  sealed: 'sealed',
  notBefore: 1_800_000_000_000,
  until: 1_801_000_000_000,
  epoch: 'epoch',
  ...changes,
});

export async function removeTokenKeys({ tokenKeys }: Stores): Promise<void> {
  for (const { type, id } of await tokenKeys.list()) await tokenKeys.remove(type, id);
}

/** Returns a new document at each call. Its length is the length of its file's name. */
export const someDocument = (path: string, changes: Partial<Document> = {}): Document => {
  const file = changes.file ?? fresh();
  return {
    path,
    kind: 'document',
    revision: fresh(),
    etag: fresh(),
    type: 'text/plain; charset=utf-8',
    length: file.length,
    created: 1_800_000_000_123,
    modified: 1_800_000_000_456,
    file,
    properties: {},
    ...changes,
  };
};

export const someCollection = (path: string, changes: Partial<Collection> = {}): Collection => ({
  path,
  kind: 'collection',
  revision: fresh(),
  created: 1_800_000_000_123,
  modified: 1_800_000_000_456,
  properties: {},
  ...changes,
});

export const someLock = (root: string, changes: Partial<Lock> = {}): Lock => ({
  token: `urn:uuid:${fresh()}`,
  root,
  deep: true,
  exclusive: true,
  owner: '<D:href xmlns:D="DAV:">mailto:alice@example.com</D:href>',
  principal: 'person=alice',
  seconds: 600,
  expires: 1_800_000_600_000,
  ...changes,
});

export const NO_QUOTA: Quota = {
  bytes: Number.MAX_SAFE_INTEGER,
  properties: Number.MAX_SAFE_INTEGER,
  entries: Number.MAX_SAFE_INTEGER,
};

/** Commits edits if the paths of `expected` have these revisions, regardless of locks. */
export async function edit(
  { trees }: Pick<Stores, 'trees'>,
  tree: string,
  edits: readonly Edit[],
  expected: Readonly<Record<string, string | undefined>> = {},
  quota = NO_QUOTA,
): Promise<CommitOutcome> {
  const { locksVersion } = await trees.look(tree, []);
  const seen = new Map(Object.entries(expected));
  return trees.commit(tree, { seen, locksVersion, edits, quota });
}

/**
 * Returns the members of the collection at a path, without ids that the store adds. Empty if there is no collection.
 */
export async function membersIn({ trees }: Stores, tree: string, path = ''): Promise<Entry[]> {
  return ((await trees.members(tree, { path }, '', 1000)) ?? []).map(asPut);
}

/** Returns an entry as it was put, without the id that the store adds. */
export const asPut = (entry: Entry): Entry => {
  if (entry.kind === 'document') return entry;
  const { id: _, ...put } = entry;
  return put;
};

/** Removes all rows that wait for removal, and returns the content files to which no row refers any more. */
export async function clear({ trees }: Pick<Stores, 'trees'>): Promise<readonly string[]> {
  const released: string[] = [];
  for (let some; (some = await trees.clear()) !== undefined;) released.push(...some.released);
  return released;
}

export const puts = (...entries: readonly (Document | Collection)[]): Edit[] =>
  entries.map((entry) => ({ kind: 'put', entry }));

/** Returns the edit that puts a document whose content the store keeps. */
export const putWith = (
  path: string,
  content: Uint8Array,
  changes: Partial<Document> = {},
): Edit => ({
  kind: 'put',
  entry: someDocument(path, { length: content.length, ...changes }),
  content,
});

/** The time at which `move` and `copy` put their entries. */
export const ARRIVAL = 1_800_000_700_789;
/** The most bytes of a path that `move` and `copy` may make. */
const LONGEST = 10_000;

export const move = (from: string, to: string, at = ARRIVAL, longest = LONGEST): Edit => ({
  kind: 'move',
  from,
  to,
  at,
  longest,
});

/** Returns a copy, by default with everything below. */
export const copy = (
  from: string,
  to: string,
  { deep = true, at = ARRIVAL, longest = LONGEST } = {},
): Edit => ({ kind: 'copy', from, to, deep, at, longest });

/** A time that no clock of a test reaches. */
export const FAR = 4_000_000_000_000;

/** Options of a single-use key that was made after any loss of data. */
export const onceFor = (seconds: number) => ({ made: FAR, seconds });
