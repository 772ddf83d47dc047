import { describe, expect, test } from '@jest/globals';
import { findAccess, recordAccess } from '#shared/access/grants.ts';
import { findSignIn, recordSignIn } from '#shared/access/sign-ins.ts';
import { StoreUnavailable } from '#shared/stores/stores.ts';
import { testPeople } from './directory.fixture.ts';
import { localDirectory } from './local.ts';
import {
  addPerson,
  disablePerson,
  enablePerson,
  PeopleError,
  personNamed,
  setPassword,
} from './people.ts';
import type { PeopleStore } from './people.ts';

const OLD = 'the old password';

/** alice, who is signed in and has allowed an application something. */
async function signedIn() {
  const town = await testPeople();
  const { id } = await addPerson(town.store, { name: 'alice', password: OLD });
  const origin = { accountId: id, generation: 0, since: town.store.clock.now() };
  await recordSignIn(town.store, { ...origin, uid: 'browser' }, 600);
  await recordAccess(town.store, { ...origin, grantId: 'grant', clientId: 'app' }, 600);
  return { ...town, id };
}

/** What of `signedIn` is still there. */
const left = async (store: PeopleStore) => [
  await findSignIn(store, 'browser'),
  await findAccess(store, 'grant'),
];

const enters = async (
  { stores, passwords }: Awaited<ReturnType<typeof testPeople>>,
  password: string,
) => localDirectory({ ...stores, passwords, demo: true }).authenticate('alice', password);

describe('addPerson', () => {
  test('the hash alone is kept, under the name as it is compared', async () => {
    const { store, stores } = await testPeople();
    const person = await addPerson(store, { name: 'Alice', password: OLD });
    expect(await stores.people.get(person.id)).toEqual({
      id: expect.stringMatching(/^[\w-]{22}$/),
      name: 'alice',
      password_hash: expect.stringMatching(/^\$argon2id\$/),
      created_at: store.clock.now(),
      version: 0,
    });
    expect(await personNamed(stores.people, 'ALICE')).toEqual(person);
  });

  test.each([
    ['a name with a space', 'al ice', OLD, /^a name is/],
    ['an empty name', '', OLD, /^a name is/],
    ['a short password', 'alice', '1234567', /^a password is 8 to 1024 bytes/],
    ['a long password', 'alice', 'x'.repeat(1025), /^a password is 8 to 1024 bytes/],
    ['a password of two lines', 'alice', 'password\nmore', /^a password is/],
  ])('%s is refused, says what to do, and nobody is added', async (_, name, password, message) => {
    const { store, stores } = await testPeople();
    const adding = addPerson(store, { name, password });
    await expect(adding).rejects.toThrow(PeopleError);
    await expect(adding).rejects.toThrow(message);
    expect(await stores.people.list()).toEqual([]);
  });

  test('one name in ten forms at once: one person', async () => {
    const { store, stores } = await testPeople();
    const names = ['bob', 'BOB', 'Bob', 'ＢＯＢ', 'boB', 'bOb', 'BOb', 'BoB', 'bOB', 'ｂob'];
    const results = await Promise.allSettled(
      names.map((name) => addPerson(store, { name, password: OLD })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await stores.people.list()).toHaveLength(1);
  });
});

describe.each([
  ['passwd', (store: PeopleStore) => setPassword(store, 'alice', 'the new password')],
  ['disable', (store: PeopleStore) => disablePerson(store, 'alice')],
])('%s', (_, change) => {
  test('sessions and grants end, with a generation that refuses every earlier token', async () => {
    const { store, stores, id } = await signedIn();
    expect(await left(store)).toEqual([expect.anything(), expect.anything()]);
    await change(store);
    expect(await left(store)).toEqual([undefined, undefined]);
    expect(await stores.revocations.generation('person', id)).toBe(1);
  });

  test('the old password lets nobody in any more', async () => {
    const town = await signedIn();
    expect(await enters(town, OLD)).toBeDefined();
    await change(town.store);
    expect(await enters(town, OLD)).toBeUndefined();
  });

  test('the store fails after the record was changed: it says so, and a second time ends everything', async () => {
    const { store, stores, id } = await signedIn();
    const raise = () => Promise.reject(new StoreUnavailable('silent'));
    const failing = { ...stores, revocations: { ...stores.revocations, raise } };
    await expect(change({ ...store, stores: failing })).rejects.toThrow(StoreUnavailable);
    expect(await stores.revocations.generation('person', id)).toBe(0);
    await change(store);
    expect(await left(store)).toEqual([undefined, undefined]);
  });

  test('nobody of that name: refused', async () => {
    const { store } = await testPeople();
    await expect(change(store)).rejects.toThrow('there is no person alice');
  });
});

test('passwd: a password that is refused changes and ends nothing', async () => {
  const town = await signedIn();
  await expect(setPassword(town.store, 'alice', 'short')).rejects.toThrow(PeopleError);
  expect(await left(town.store)).toEqual([expect.anything(), expect.anything()]);
  expect(await enters(town, OLD)).toBeDefined();
});

test('enable: the password of before, but nothing that was ended', async () => {
  const town = await signedIn();
  await disablePerson(town.store, 'alice');
  await enablePerson(town.store, 'alice');
  expect(await enters(town, OLD)).toBeDefined();
  expect(await left(town.store)).toEqual([undefined, undefined]);
});

test('passwd and disable at once, five each through two openings of the store: none is lost', async () => {
  const town = await signedIn();
  const other = await testPeople(town.data);
  const changes = Array.from({ length: 5 }, (_, index) => [
    setPassword(town.store, 'alice', `the new password ${index}`),
    disablePerson(other.store, 'alice'),
  ]);
  const versions = (await Promise.all(changes.flat())).map(({ version }) => version);
  expect(versions.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  const alice = await town.stores.people.get(town.id);
  expect(alice).toMatchObject({ disabled: true, version: 10 });
  expect(await town.stores.revocations.generation('person', town.id)).toBe(10);
  expect(await left(town.store)).toEqual([undefined, undefined]);

  await enablePerson(town.store, 'alice');
  expect(await enters(town, OLD)).toBeUndefined();
  const letIn = await Promise.all(
    changes.map((_, index) => enters(town, `the new password ${index}`)),
  );
  expect(letIn.filter((person) => person !== undefined)).toHaveLength(1);
});
