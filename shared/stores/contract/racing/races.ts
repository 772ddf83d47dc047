import { VOPRF } from '#shared/private-token/token-types.ts';
import type { KeyTable } from '../../keys/keys.ts';
import type { Stores } from '../../stores.ts';
import type { Edit } from '../../trees/trees.ts';
import {
  edit,
  FAR,
  NO_QUOTA,
  onceFor,
  fresh,
  move,
  puts,
  removeTokenKeys,
  someApiKey,
  someClient,
  someCollection,
  someDocument,
  someKey,
  someLock,
  someVerifier,
  somePerson,
  somePasskey,
  somePublicKey,
  someOutboxMessage,
  someSecondFactor,
  someTokenKey,
} from '../samples.ts';

/** Many attempts at one thing, by several processes at once; each says whether it won. */
interface Race {
  /** Puts there what the attempts are about, and names it. */
  readonly prepare: (stores: Stores) => Promise<string>;
  readonly attempt: (stores: Stores, key: string) => Promise<boolean>;
  /** How many attempts win, whatever their number. */
  readonly winners: number;
}

/** Whether they are done. */
const done = async (...attempt: Parameters<typeof edit>): Promise<boolean> =>
  (await edit(...attempt)).kind === 'done';

/** Makes a tree with these edits, and names it. */
const prepared = (edits: readonly Edit[]) => async (stores: Stores) => {
  const tree = fresh();
  await edit(stores, tree, edits);
  return tree;
};

/** The race for the first key, by several processes that start at once. */
const firstKey = (table: KeyTable): Race => ({
  prepare: async (stores) => {
    for (const { kid } of await stores[table].list()) await stores[table].remove(kid);
    return fresh();
  },
  attempt: (stores) => stores[table].add(someKey(fresh(), 'ES256'), 'ES256'),
  winners: 1,
});

const BURST = 20;

export const RACES = {
  unique: {
    prepare: async () => fresh(),
    attempt: (stores, key) => stores.replay.unique('race', key, 60),
    winners: 1,
  },
  'spend a proof': {
    prepare: async () => fresh(),
    attempt: async (stores, key) =>
      (await stores.proofs.spend('dpop', key, onceFor(60))) === 'first',
    winners: 1,
  },
  'spend a token': {
    prepare: async () => fresh(),
    attempt: (stores, token) => stores.spentTokens.spend(Buffer.from(token), FAR),
    winners: 1,
  },
  'add the first token key': {
    prepare: async (stores) => {
      await removeTokenKeys(stores);
      return fresh();
    },
    attempt: async (stores) =>
      (await stores.tokenKeys.add(someTokenKey(VOPRF, 7), undefined)) === 'added',
    winners: 1,
  },
  'add a token key behind the newest': {
    prepare: async (stores) => {
      await removeTokenKeys(stores);
      const newest = someTokenKey(VOPRF, 7);
      await stores.tokenKeys.add(newest, undefined);
      return newest.id;
    },
    attempt: async (stores, newest) =>
      (await stores.tokenKeys.add(someTokenKey(VOPRF, 8), newest)) === 'added',
    winners: 1,
  },
  'use a count': {
    prepare: async () => fresh(),
    attempt: async (stores, key) =>
      (await stores.useCounts.use('race', key, 7, onceFor(60))) === 'first',
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
  'use and succeed': {
    prepare: async (stores) => {
      const id = fresh();
      await stores.artefacts.put({ kind: 'RefreshToken', id, payload: {}, seconds: 60 });
      return id;
    },
    attempt: async (stores, id) => {
      const attempt = fresh();
      const successor = { kind: 'RefreshToken', id: attempt, payload: {}, seconds: 60 };
      const outcome = await stores.artefacts.consume('RefreshToken', id, { attempt, successor });
      const there = (await stores.artefacts.get('RefreshToken', attempt)) !== undefined;
      if (there !== (outcome === 'first')) throw new Error(`${outcome}, and a successor: ${there}`);
      return there;
    },
    winners: 1,
  },
  'step into the place of an attempt': {
    prepare: async (stores) => {
      const id = fresh();
      await stores.artefacts.put({ kind: 'RefreshToken', id, payload: {}, seconds: 60 });
      await stores.artefacts.consume('RefreshToken', id, { attempt: 'lost' });
      return id;
    },
    attempt: async (stores, id) => {
      const use = { attempt: fresh(), instead: 'lost' };
      return (await stores.artefacts.consume('RefreshToken', id, use)) === 'first';
    },
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
      (await stores.limits.spend('sign-in-name', key, { burst: BURST, per: 3600 })).ok,
    winners: BURST,
  },
  'spend in blocks': {
    prepare: async () => fresh(),
    attempt: async (stores, key) =>
      (await stores.limits.spend('api-key', key, { burst: BURST, per: 3600 })).ok,
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
  'replace a client as it was seen': {
    prepare: async (stores) => {
      const client = someClient(fresh());
      await stores.clients.add(client);
      return client.client_id;
    },
    attempt: (stores, id) =>
      stores.clients.replace({ ...someClient(id), secret_hash: fresh() }, someClient(id)),
    winners: 1,
  },
  'remove a person': {
    prepare: async (stores) => {
      const person = somePerson(fresh());
      await stores.people.add(person);
      return person.id;
    },
    attempt: (stores, id) => stores.people.remove({ id, version: 0 }),
    winners: 1,
  },
  'add a person of a former name': {
    prepare: async (stores) => {
      const person = somePerson(fresh());
      await stores.people.add(person);
      await stores.people.remove(person);
      return person.name;
    },
    attempt: (stores, name) => stores.people.add(somePerson(name), [], 'reused'),
    winners: 1,
  },
  'add a person of an alias': {
    prepare: async () => fresh(),
    attempt: (stores, alias) => stores.people.add({ ...somePerson(fresh()), aliases: [alias] }),
    winners: 1,
  },
  'add a person whose search key nobody has': {
    prepare: async () => fresh(),
    attempt: (stores, key) => {
      const person = { ...somePerson(fresh()), search_keys: [key] };
      return stores.people.add(person, [], 'refused', { unshared: key });
    },
    winners: 1,
  },
  'add a person of a handle': {
    prepare: async () => fresh(),
    attempt: (stores, handle) =>
      stores.people.add(somePerson(fresh()), [someVerifier('one', { handle })]),
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
  'add a public key': {
    prepare: async () => fresh(),
    attempt: async (stores, id) => {
      const owner = { kind: 'person', id: fresh() } as const;
      return (await stores.publicKeys.add({ ...somePublicKey(id), owner }, 1)) === 'added';
    },
    winners: 1,
  },
  'add public keys of one person': {
    prepare: async () => fresh(),
    attempt: async (stores, id) => {
      const owner = { kind: 'person', id } as const;
      const outcome = await stores.publicKeys.add({ ...somePublicKey(fresh()), owner }, BURST);
      return outcome === 'added';
    },
    winners: BURST,
  },
  'remove a public key': {
    prepare: async (stores) => {
      const id = fresh();
      await stores.publicKeys.add(somePublicKey(id), 1);
      return id;
    },
    attempt: (stores, id) => stores.publicKeys.remove(id),
    winners: 1,
  },
  'add passkeys of one person': {
    prepare: async () => fresh(),
    attempt: async ({ passkeys }, accountId) =>
      (await passkeys.add({ ...somePasskey(fresh()), accountId }, BURST)) === 'added',
    winners: BURST,
  },
  'use a passkey with one counter': {
    prepare: async (stores) => {
      const id = fresh();
      await stores.passkeys.add(somePasskey(id), 1);
      return id;
    },
    attempt: async ({ passkeys }, id) =>
      (await passkeys.use(id, { counter: 8, backedUp: true, at: 1 })) === 'used',
    winners: 1,
  },
  'remove all but the last passkey': {
    prepare: async (stores) => {
      const accountId = fresh();
      for (let n = 0; n <= BURST; n += 1) {
        await stores.passkeys.add({ ...somePasskey(`${accountId}${n}`), accountId }, BURST + 1);
      }
      return accountId;
    },
    attempt: async ({ passkeys }, accountId) => {
      for (const { id } of await passkeys.of(accountId)) {
        const outcome = await passkeys.remove(accountId, id, 1);
        if (outcome !== 'gone') return outcome === 'removed';
      }
      return false;
    },
    winners: BURST,
  },
  'take a message to be sent': {
    prepare: async ({ outbox }) => {
      const id = fresh();
      await outbox.add(someOutboxMessage(id));
      return id;
    },
    attempt: async ({ outbox }, id) => {
      const { created_at } = someOutboxMessage(id);
      const taken = await outbox.take(created_at, created_at + 60_000, 1000);
      return taken.some((message) => message.id === id);
    },
    winners: 1,
  },
  'set a second factor up': {
    prepare: async () => fresh(),
    attempt: ({ secondFactors }, accountId) =>
      secondFactors.add({ ...someSecondFactor(accountId), id: fresh() }),
    winners: 1,
  },
  'put another second factor in the place of one': {
    prepare: async ({ secondFactors }) => {
      const accountId = fresh();
      await secondFactors.add(someSecondFactor(accountId));
      return accountId;
    },
    attempt: async ({ secondFactors }, accountId) => {
      const before = someSecondFactor(accountId);
      const factor = { ...before, id: fresh() };
      const next = { factor, replaces: before.id, generation: 0, until: FAR };
      return (await secondFactors.setUp(next)) !== undefined;
    },
    winners: 1,
  },
  'use a step of a second factor': {
    prepare: async ({ secondFactors }) => {
      const accountId = fresh();
      await secondFactors.add(someSecondFactor(accountId));
      return accountId;
    },
    attempt: ({ secondFactors }, accountId) =>
      secondFactors.useStep(accountId, someSecondFactor(accountId).id, 8, 1),
    winners: 1,
  },
  'use a recovery code': {
    prepare: async ({ secondFactors }) => {
      const accountId = fresh();
      await secondFactors.add(someSecondFactor(accountId));
      return accountId;
    },
    attempt: async ({ secondFactors }, accountId) =>
      (await secondFactors.useRecovery(accountId, 'mac 1', 1)) !== undefined,
    winners: 1,
  },
  'add the first key of an alg': firstKey('keys'),
  'add the first key of the gateway': firstKey('gatewayKeys'),
  'create a document': {
    prepare: async () => fresh(),
    attempt: (stores, tree) => done(stores, tree, puts(someDocument('a')), { a: undefined }),
    winners: 1,
  },
  'replace a document': {
    prepare: prepared(puts(someDocument('a', { revision: 'v1' }))),
    attempt: (stores, tree) => done(stores, tree, puts(someDocument('a')), { a: 'v1' }),
    winners: 1,
  },
  'change the properties of a document': {
    prepare: prepared(puts(someDocument('a', { revision: 'v1' }))),
    attempt: async (stores, tree) => {
      const entry = await stores.trees.get(tree, 'a');
      if (entry === undefined) throw new Error('the document is gone');
      const changed = { ...entry, revision: fresh(), properties: { '{x:}y': fresh() } };
      return done(stores, tree, puts(changed), { a: 'v1' });
    },
    winners: 1,
  },
  'remove a tree': {
    prepare: prepared(puts(someCollection('a', { revision: 'v1' }), someDocument('a/b'))),
    attempt: (stores, tree) => done(stores, tree, [{ kind: 'remove', path: 'a' }], { a: 'v1' }),
    winners: 1,
  },
  'move a tree': {
    prepare: prepared(puts(someCollection('a', { revision: 'v1' }), someDocument('a/b'))),
    attempt: (stores, tree) => done(stores, tree, [move('a', fresh())], { a: 'v1' }),
    winners: 1,
  },
  'lock the root': {
    prepare: async () => fresh(),
    attempt: async ({ trees }, tree) => {
      const { locks, locksVersion } = await trees.look(tree, []);
      if (locks.length > 0) return false;
      const edits: Edit[] = [{ kind: 'lock', lock: someLock('') }];
      const change = { seen: new Map(), locksVersion, edits, quota: NO_QUOTA };
      return (await trees.commit(tree, change)).kind === 'done';
    },
    winners: 1,
  },
  'fill a collection': {
    prepare: prepared(puts(someCollection('a', { revision: 'v1' }))),
    attempt: (stores, tree) => {
      const room = { ...NO_QUOTA, entries: 1 + BURST };
      return done(stores, tree, puts(someDocument(`a/${fresh()}`)), { a: 'v1' }, room);
    },
    winners: BURST,
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
