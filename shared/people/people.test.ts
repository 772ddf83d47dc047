import { describe, expect, test } from '@jest/globals';
import { BY_PASSWORD } from './access/assurance.ts';
import { ALONE } from '#shared/base/line.ts';
import { findAccess, recordAccess } from './access/grants.ts';
import { findSignIn, recordSignIn } from './access/sign-ins.ts';
import { everybodyIn } from '#shared/stores/contract/samples.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { testPeople } from './directory.fixture.ts';
import { localDirectory } from './local.ts';
import {
  addPerson,
  disablePerson,
  enablePerson,
  PeopleError,
  personNamed,
  setKerberos,
  setPassword,
} from './people.ts';
import type { PeopleStore } from './people.ts';
import type { RealmNeeds } from './verifier-kind.ts';
import { OTHER_SEAL, PROOF, OTHER_PROOF, SEAL } from './verifier-kind.fixture.ts';

const OLD = 'the old password';

/** Creates alice, who is signed in and has allowed an application access. */
async function signedIn() {
  const made = await testPeople();
  const { id } = await addPerson(made.store, { name: 'alice', password: OLD });
  const origin = { accountId: id, generation: 0, since: made.store.clock.now() };
  await recordSignIn(made.store, { ...origin, uid: 'browser', assurance: BY_PASSWORD }, 600);
  const access = { ...origin, grantId: 'grant', clientId: 'app', clientGeneration: 0 };
  await recordAccess(made.store, access, 600);
  return { ...made, id };
}

/** Returns the parts of `signedIn` that still exist. */
const left = async (store: PeopleStore) => [
  await findSignIn(store, 'browser'),
  await findAccess(store, 'grant'),
];

const enters = async (
  { stores, passwords }: Awaited<ReturnType<typeof testPeople>>,
  password: string,
) =>
  localDirectory({
    ...stores,
    passwords,
    admitted: { demo: true, sources: new Set() },
  }).authenticate('alice', password, ALONE);

describe('addPerson', () => {
  test('addPerson stores only the hash of the password, and the name in its compared form', async () => {
    const { store, stores } = await testPeople();
    const person = await addPerson(store, { name: 'Alice', password: OLD });
    expect(await stores.people.get(person.id)).toEqual({
      id: expect.stringMatching(/^[\w-]{22}$/),
      name: 'alice',
      password_hash: expect.stringMatching(/^\$argon2id\$/),
      verifier_set: expect.any(String),
      aliases: [],
      search_keys: ['looks:allce'],
      created_at: store.clock.now(),
      version: 0,
    });
    expect(await personNamed(stores.people, 'ALICE')).toEqual(person);
  });

  test.each([
    ['a name with a space', 'al ice', OLD, /^a name is/],
    ['an empty name', '', OLD, /^a name is/],
    ['a short password', 'alice', '1234567', /^a password has at least 8 characters/],
    ['a long password', 'alice', 'x'.repeat(1025), /^a password has at most 1,024 octets/],
    ['a password of two lines', 'alice', 'password\nmore', /^a password has no control characters/],
    ['a common password', 'alice', 'Football', /^this password is one of the 10,000 commonest/],
  ])('%s is refused with advice, and no person is added', async (_, name, password, message) => {
    const { store, stores } = await testPeople();
    const adding = addPerson(store, { name, password });
    await expect(adding).rejects.toThrow(PeopleError);
    await expect(adding).rejects.toThrow(message);
    expect(await everybodyIn(stores)).toEqual([]);
  });

  test('adding one name in ten forms at the same time adds one person', async () => {
    const { store, stores } = await testPeople();
    const names = ['bob', 'BOB', 'Bob', 'ＢＯＢ', 'boB', 'bOb', 'BOb', 'BoB', 'bOB', 'ｂob'];
    const results = await Promise.allSettled(
      names.map((name) => addPerson(store, { name, password: OLD })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await everybodyIn(stores)).toHaveLength(1);
  });
});

describe.each([
  ['passwd', 2, (store: PeopleStore) => setPassword(store, 'alice', 'the new password')],
  ['disable', 2, (store: PeopleStore) => disablePerson(store, 'alice')],
  ['kerberos', 1, (store: PeopleStore) => setKerberos(store, 'alice', ['alice@EXAMPLE.COM'])],
])('the change %s', (_, raised, change) => {
  test('the change ends sessions and grants, with a generation that refuses every earlier token', async () => {
    const { store, stores, id } = await signedIn();
    expect(await left(store)).toEqual([expect.anything(), expect.anything()]);
    await change(store);
    expect(await left(store)).toEqual([undefined, undefined]);
    expect(await stores.revocations.generation('person', id)).toBe(raised);
  });

  test('if the store fails after the record was changed, the error says so, and a repetition ends all access', async () => {
    const { store, stores, id } = await signedIn();
    const raise = () => Promise.reject(new StoreUnavailable('silent'));
    const failing = { ...stores, revocations: { ...stores.revocations, raise } };
    await expect(change({ ...store, stores: failing })).rejects.toThrow(StoreUnavailable);
    expect(await stores.revocations.generation('person', id)).toBe(0);
    await change(store);
    expect(await left(store)).toEqual([undefined, undefined]);
  });

  test('a name without a person is refused', async () => {
    const { store } = await testPeople();
    await expect(change(store)).rejects.toThrow('there is no person alice');
  });
});

test.each([
  ['passwd', (store: PeopleStore) => setPassword(store, 'alice', 'the new password')],
  ['disable', (store: PeopleStore) => disablePerson(store, 'alice')],
])('%s: the old password no longer authenticates', async (_, change) => {
  const made = await signedIn();
  expect(await enters(made, OLD)).toBeDefined();
  await change(made.store);
  expect(await enters(made, OLD)).toBeUndefined();
});

test.each([
  [
    'disable',
    (store: PeopleStore) => disablePerson(store, 'alice'),
    ({ disabled }: PersonRecord) => disabled === true,
  ],
  [
    'passwd',
    (store: PeopleStore) => setPassword(store, 'alice', 'the new password'),
    ({ version }: PersonRecord) => version > 0,
  ],
])(
  '%s: a crash after the change of the record leaves no earlier token, and a crash before it an unchanged record',
  async (_, change, changed) => {
    const { store, stores, id } = await signedIn();
    const ended = () => stores.revocations.generation('person', id);
    const isChanged = async () => changed((await stores.people.get(id))!);
    const crash = () => Promise.reject(new Error('killed'));
    const replace = async () => {
      expect(await ended()).toBe(1);
      return crash();
    };
    const people = { ...stores, people: { ...stores.people, replace } };
    await expect(change({ ...store, stores: people })).rejects.toThrow('killed');
    expect(await isChanged()).toBe(false);

    const raises = [stores.revocations.raise, crash];
    const raise: typeof stores.revocations.raise = (...args) => (raises.shift() ?? crash)(...args);
    const failing = { ...stores, revocations: { ...stores.revocations, raise } };
    await expect(change({ ...store, stores: failing })).rejects.toThrow('killed');
    expect(await isChanged()).toBe(true);
    expect(await ended()).toBe(2);
  },
);

test('a password that passwd refuses changes and ends nothing', async () => {
  const made = await signedIn();
  await expect(setPassword(made.store, 'alice', 'short')).rejects.toThrow(PeopleError);
  expect(await left(made.store)).toEqual([expect.anything(), expect.anything()]);
  expect(await enters(made, OLD)).toBeDefined();
});

test('a person who is enabled again has their old password, and their ended access stays ended', async () => {
  const made = await signedIn();
  await disablePerson(made.store, 'alice');
  await enablePerson(made.store, 'alice');
  expect(await enters(made, OLD)).toBeDefined();
  expect(await left(made.store)).toEqual([undefined, undefined]);
});

test('five passwd and five disable at the same time, through two openings of the store, all take effect, and one event says disabled', async () => {
  const made = await signedIn();
  const other = await testPeople(made.data);
  const changes = Array.from({ length: 5 }, (_, index) => [
    setPassword(made.store, 'alice', `the new password ${index}`),
    disablePerson(other.store, 'alice'),
  ]);
  const versions = (await Promise.all(changes.flat())).map(({ version }) => version);
  expect(new Set(versions)).toEqual(new Set([1, 2, 3, 4, 5, 6]));
  const alice = await made.stores.people.get(made.id);
  expect(alice).toMatchObject({ disabled: true, version: 6 });
  const generation = await made.stores.revocations.generation('person', made.id);
  expect(generation).toBeGreaterThan(10);
  expect(generation).toBeLessThanOrEqual(20);
  expect(await left(made.store)).toEqual([undefined, undefined]);

  await enablePerson(made.store, 'alice');
  expect(await enters(made, OLD)).toBeUndefined();
  const letIn = await Promise.all(
    changes.map((_, index) => enters(made, `the new password ${index}`)),
  );
  expect(letIn.filter((person) => person !== undefined)).toHaveLength(1);
});

describe('the verifiers that realms need', () => {
  const REALMS: RealmNeeds[] = [
    { realm: 'one', kinds: [PROOF, OTHER_PROOF, SEAL] },
    { realm: 'two', kinds: [OTHER_SEAL] },
  ];

  const rowsOf = async ({ people }: Stores, id: string) =>
    (await people.getWhole(id))?.verifiers ?? [];
  /** Returns each verifier separately. */
  const valuesOf = async (stores: Stores, id: string) =>
    (await rowsOf(stores, id)).map(({ value }) => value);

  test('a new password replaces every verifier and the hash in one step; handles stay', async () => {
    const { store, stores } = await testPeople(undefined, REALMS);
    const before = await addPerson(store, { name: 'Alice', password: OLD });
    const rows = await rowsOf(stores, before.id);
    const replaced: unknown[] = [];
    const replace: typeof stores.people.replace = (person, verifiers) => {
      replaced.push(person);
      return stores.people.replace(person, verifiers);
    };
    const watched = { ...stores, people: { ...stores.people, replace } };
    const after = await setPassword({ ...store, stores: watched }, 'ALICE', 'the new password');
    expect(replaced).toEqual([after]);
    expect(await stores.people.get(before.id)).toEqual(after);
    const all = [...rows, ...(await rowsOf(stores, before.id))].map(({ value }) => value);
    expect(all).toHaveLength(8);
    expect(new Set(all).size).toBe(8);
    expect(after.password_hash).not.toBe(before.password_hash);
    const handlesIn = (kept: typeof rows) => kept.flatMap(({ handle = [] }) => handle);
    expect(handlesIn(await rowsOf(stores, before.id))).toEqual(handlesIn(rows));
    expect(handlesIn(rows)).toHaveLength(2);
    expect(after.verifier_set).toBe(before.verifier_set);
  });

  test('the next password removes a verifier that is no longer needed, with its handle', async () => {
    const { store, stores } = await testPeople(undefined, REALMS);
    const { id, verifier_set } = await addPerson(store, { name: 'alice', password: OLD });
    const handle = PROOF.handle?.('alice', 'one') ?? '';
    const found = () => stores.people.getVerifier('proof one', 'one', { handle });
    expect(await found()).toMatchObject({ person: { name: 'alice' } });
    const realms: RealmNeeds[] = [{ realm: 'one', kinds: [OTHER_PROOF] }];
    const after = await setPassword({ ...store, realms }, 'alice', OLD);
    expect(await valuesOf(stores, id)).toHaveLength(1);
    expect(await found()).toBeUndefined();
    expect(await stores.people.getVerifier('proof two', 'one', { name: 'alice' })).toBeDefined();
    expect(after.verifier_set).not.toBe(verifier_set);
  });

  test('other changes keep verifiers and principals', async () => {
    const { store, stores } = await testPeople(undefined, REALMS);
    const { id, verifier_set } = await addPerson(store, { name: 'alice', password: OLD });
    const verifiers = await valuesOf(stores, id);
    await setKerberos(store, 'alice', ['alice@EXAMPLE.COM']);
    await disablePerson(store, 'alice');
    const after = await enablePerson(store, 'alice');
    expect(after).toMatchObject({ verifier_set, kerberos: ['alice@EXAMPLE.COM'] });
    expect(await valuesOf(stores, id)).toEqual(verifiers);
    expect((await setPassword(store, 'alice', OLD)).aliases).toContain(
      'kerberos:alice@EXAMPLE.COM',
    );
  });

  test('a password with a composed and with a decomposed letter is the same (RFC 8265 section 4.2)', async () => {
    const { store, stores } = await testPeople(undefined, REALMS);
    const { id } = await addPerson(store, { name: 'alice', password: OLD });
    const proofOf = async (password: string) => {
      await setPassword(store, 'alice', password);
      return (await rowsOf(stores, id)).filter(({ kind }) => kind.startsWith('proof '));
    };
    expect(await proofOf('p\u00e4sswords')).toEqual(await proofOf('pa\u0308sswords'));
  });
});

describe('principals', () => {
  /** Creates alice and bob. */
  async function two() {
    const made = await testPeople();
    await addPerson(made.store, { name: 'alice', password: OLD });
    await addPerson(made.store, { name: 'bob', password: OLD });
    return made;
  }

  test('new principals replace the former ones, each once, and the former ones become free', async () => {
    const { store, stores } = await two();
    const principals = ['alice@A', 'alice/admin@A', 'alice@A'];
    const alice = await setKerberos(store, 'ALICE', principals);
    expect(alice.kerberos).toEqual(['alice@A', 'alice/admin@A']);
    expect(await stores.people.getByAlias('kerberos:alice/admin@A')).toEqual(alice);
    await setKerberos(store, 'alice', ['alice@B']);
    expect(await stores.people.getByAlias('kerberos:alice@A')).toBeUndefined();
    await setKerberos(store, 'bob', ['alice@A']);
    expect(await stores.people.getByAlias('kerberos:alice@A')).toMatchObject({ name: 'bob' });
  });

  test("a principal of another person is refused by that person's name, and no data or access changes", async () => {
    const { store, stores } = await two();
    await setKerberos(store, 'bob', ['shared@A']);
    const before = await personNamed(stores.people, 'alice');
    const changing = setKerberos(store, 'alice', ['alice@A', 'shared@A']);
    await expect(changing).rejects.toThrow(PeopleError);
    await expect(changing).rejects.toThrow('kerberos:shared@A belongs to bob');
    expect(await personNamed(stores.people, 'alice')).toEqual(before);
    expect(await stores.revocations.generation('person', before.id)).toBe(0);
    expect(await stores.people.getByAlias('kerberos:alice@A')).toBeUndefined();
  });

  test('an invalid principal is refused before any look-up', async () => {
    const { store } = await two();
    for (const wrong of ['alice', 'alice@', 'a@A\n', 'digest:MD5:x']) {
      await expect(setKerberos(store, 'alice', ['alice@A', wrong])).rejects.toThrow(
        'is no principal',
      );
    }
  });

  test('if ten people want the same principal at the same time, through two openings of the store, one gets it', async () => {
    const made = await testPeople();
    const other = await testPeople(made.data);
    const names = Array.from({ length: 10 }, (_, index) => `person${index}`);
    for (const name of names) await addPerson(made.store, { name, password: OLD });
    const results = await Promise.allSettled(
      names.map((name, index) =>
        setKerberos(index % 2 ? made.store : other.store, name, ['shared@A']),
      ),
    );
    const [winner, ...more] = results.filter((result) => result.status === 'fulfilled');
    expect(more).toEqual([]);
    expect(await made.stores.people.getByAlias('kerberos:shared@A')).toEqual(winner?.value);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(PeopleError);
    }
    const have = (await everybodyIn(made.stores)).filter(({ kerberos }) => kerberos);
    expect(have).toHaveLength(1);
  });

  test('changes of one person at the same time fail if they want a taken principal, and otherwise succeed', async () => {
    const { store, stores } = await two();
    await setKerberos(store, 'bob', ['shared@A']);
    const changes = Array.from({ length: 5 }, (_, index) => [
      setKerberos(store, 'alice', ['shared@A', `alice${index}@A`]),
      setPassword(store, 'alice', `the new password ${index}`),
    ]);
    const results = await Promise.allSettled(changes.flat());
    expect(results.map(({ status }) => status)).toEqual(
      changes.flatMap(() => ['rejected', 'fulfilled']),
    );
    expect(await personNamed(stores.people, 'alice')).toMatchObject({ version: 5 });
    expect((await personNamed(stores.people, 'alice')).kerberos).toBeUndefined();
  });

  test('if the taken principal is free again when the reason is looked up, the message says to try again', async () => {
    const { store, stores } = await two();
    const replace = async () => false;
    const refusing = { ...stores, people: { ...stores.people, replace } };
    const changing = setKerberos({ ...store, stores: refusing }, 'alice', ['alice@A']);
    await expect(changing).rejects.toThrow(PeopleError);
    await expect(changing).rejects.toThrow('try again');
  });
});
