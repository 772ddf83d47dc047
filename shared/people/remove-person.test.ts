import { hash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { BY_PASSWORD } from './access/assurance.ts';
import { createAddressLinks } from './address-links.ts';
import {
  everybodyIn,
  passkeysIn,
  somePasskey,
  somePublicKey,
  someSecondFactor,
} from '#shared/stores/contract/samples.ts';
import { someSubscription } from '#shared/stores/contract/push/samples.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { findAccess, recordAccess } from './access/grants.ts';
import { findSignIn, recordSignIn } from './access/sign-ins.ts';
import { testPeople } from './directory.fixture.ts';
import { addPerson, enablePerson, PeopleError, setPassword } from './people.ts';
import { createRecoveryLinks } from './recovery-links.ts';
import { removePerson } from './remove-person.ts';
import { PROOF } from './verifier-kind.fixture.ts';

const PASSWORD = 'correct horse battery';

/** Creates alice, who is signed in, has allowed an application access, and has a key. */
async function alice() {
  const made = await testPeople(undefined, [{ realm: 'one', kinds: [PROOF] }]);
  const { stores } = made;
  const store = { ...made.store, stores };
  const person = await addPerson(store, {
    name: 'alice',
    password: PASSWORD,
    profile: { emails: [{ address: 'alice@example.com', verified: true }] },
  });
  const { id } = person;
  const origin = { accountId: id, generation: 0, since: store.clock.now() };
  await recordSignIn(store, { ...origin, uid: 'browser', assurance: BY_PASSWORD }, 600);
  const access = { ...origin, grantId: 'grant', clientId: 'app', clientGeneration: 0 };
  await recordAccess(store, access, 600);
  const payload = { accountId: id };
  await stores.artefacts.put({ kind: 'Grant', id: 'grant', payload, seconds: 600 });
  const token = { ...payload, grantId: 'grant' };
  await stores.artefacts.put({ kind: 'RefreshToken', id: 'token', payload: token, seconds: 600 });
  const owner = { kind: 'person', id } as const;
  await stores.publicKeys.add({ ...somePublicKey('key of alice'), owner }, 10);
  await stores.publicKeys.add(somePublicKey('key of another'), 10);
  await stores.secondFactors.add(someSecondFactor(id));
  await stores.secondFactors.add(someSecondFactor('another'));
  for (const passkey of ['one', 'two']) {
    await stores.passkeys.add({ ...somePasskey(passkey), accountId: id }, 10);
  }
  await stores.passkeys.add(somePasskey('of another'), 10);
  await stores.push.subscribe(someSubscription({ id: 'bell of alice', person: id }), 10);
  await stores.push.subscribe(someSubscription({ id: 'bell of another' }), 10);
  return { ...made, store, stores, person };
}

test('removing a person removes all their data and raises the generation, and other people keep theirs', async () => {
  const { store, stores, person } = await alice();
  await addPerson(store, { name: 'bob', password: PASSWORD });
  await removePerson(store, 'ALICE');
  expect((await everybodyIn(stores)).map(({ name }) => name)).toEqual(['bob']);
  expect(await stores.people.getWhole(person.id)).toBeUndefined();
  expect(await stores.people.getVerifier(PROOF.kind, 'one', { name: 'alice' })).toBeUndefined();
  expect(await findSignIn(store, 'browser')).toBeUndefined();
  expect(await findAccess(store, 'grant')).toBeUndefined();
  for (const [kind, id] of [
    ['Grant', 'grant'],
    ['RefreshToken', 'token'],
    ['Access', 'grant'],
    ['SignIn', 'browser'],
  ] as const) {
    expect([kind, await stores.artefacts.get(kind, id)]).toEqual([kind, undefined]);
  }
  expect(await stores.publicKeys.get('key of alice')).toBeUndefined();
  expect(await stores.publicKeys.get('key of another')).toBeDefined();
  expect(await stores.secondFactors.get(person.id)).toBeUndefined();
  expect(await stores.secondFactors.get('another')).toBeDefined();
  expect(await passkeysIn(stores)).toEqual([somePasskey('of another')]);
  expect(await stores.push.subscription('bell of alice')).toBeUndefined();
  expect(await stores.push.subscription('bell of another')).toBeDefined();
  expect(await stores.revocations.generation('person', person.id)).toBeGreaterThan(0);
});

test('the links and messages that wait for the person end', async () => {
  const { store, stores, person } = await alice();
  const bob = await addPerson(store, { name: 'bob', password: PASSWORD });
  const [links, recovery] = [createAddressLinks(store), createRecoveryLinks(store)];
  const secrets: string[] = [];
  for (const { id } of [person, bob]) {
    await links.make(id, `new-${id}@example.com`);
    secrets.push(await recovery.make({ person: id, purpose: 'recovery' }));
    secrets.push(await recovery.make({ person: id, purpose: 'recovery', byMail: true }));
    const [to, now] = [`new-${id}@example.com`, store.clock.now()];
    const message = { accountId: id, kind: 'confirm', language: 'en', created_at: now, to };
    await stores.outbox.add({ ...message, id, until: now + 60_000 });
  }
  await removePerson(store, 'alice');
  const left = (owner: string) =>
    stores.artefacts.get('Link', `${owner}of:${hash('sha256', person.id, 'base64url')}`);
  for (const owner of ['address ', 'recovery ', 'recovery by mail ']) {
    expect(await left(owner)).toBeUndefined();
  }
  expect(await stores.outbox.of(person.id)).toEqual([]);
  expect(await stores.outbox.of(bob.id)).toHaveLength(1);
  expect((await links.waiting(bob.id))?.person).toBe(bob.id);
  const found = await Promise.all(secrets.map((secret) => recovery.find(secret)));
  expect(found.map((one) => one?.person)).toEqual([undefined, undefined, bob.id, bob.id]);
});

test("a removed person's name is given again only on explicit request", async () => {
  const { store } = await alice();
  await removePerson(store, 'alice');
  const heir = { name: 'Alice', password: PASSWORD };
  await expect(addPerson(store, heir)).rejects.toThrow('was the name of a removed person');
  const added = await addPerson(store, heir, 'reused');
  expect(added.name).toBe('alice');
});

test('removing an unknown person, or a person twice, is refused', async () => {
  const { store } = await alice();
  await expect(removePerson(store, 'bob')).rejects.toThrow(PeopleError);
  await removePerson(store, 'alice');
  await expect(removePerson(store, 'alice')).rejects.toThrow('there is no person alice');
});

test('one of ten removals at the same time succeeds, and the rest find no person', async () => {
  const { store } = await alice();
  const attempts = Array.from({ length: 10 }, () => removePerson(store, 'alice'));
  const outcomes = await Promise.allSettled(attempts);
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(9);
  for (const outcome of refused) {
    expect(outcome).toMatchObject({ reason: { message: 'there is no person alice' } });
  }
});

test('a person who is enabled again at the last moment is removed nevertheless', async () => {
  const { store, stores } = await alice();
  let interruptions = 0;
  const remove = stores.people.remove.bind(stores.people);
  const people = {
    ...stores.people,
    remove: async (person: Parameters<typeof remove>[0]) => {
      interruptions += 1;
      if (interruptions === 1) await enablePerson(store, 'alice');
      if (interruptions === 2) await setPassword(store, 'alice', 'another password');
      return remove(person);
    },
  };
  await removePerson({ ...store, stores: { ...stores, people } }, 'alice');
  expect(interruptions).toBe(3);
  expect(await everybodyIn(stores)).toEqual([]);
});

test('after an interruption at any step the person cannot sign in, and the next attempt completes the removal', async () => {
  for (const verb of ['removeAll', 'of', 'remove'] as const) {
    const { store, stores, person } = await alice();
    const down = () => Promise.reject(new StoreUnavailable('down'));
    const broken = {
      removeAll: { ...stores, passkeys: { ...stores.passkeys, removeAll: down } },
      of: { ...stores, publicKeys: { ...stores.publicKeys, of: down } },
      remove: { ...stores, people: { ...stores.people, remove: down } },
    };
    await expect(removePerson({ ...store, stores: broken[verb] }, 'alice')).rejects.toThrow('down');
    expect(await stores.people.get(person.id)).toMatchObject({ disabled: true });
    expect(await findSignIn(store, 'browser')).toBeUndefined();
    await removePerson(store, 'alice');
    expect(await everybodyIn(stores)).toEqual([]);
    expect(await stores.passkeys.of(person.id)).toEqual([]);
  }
});

test('the removal cleans up a sign-in that was under way', async () => {
  const { store, stores, person } = await alice();
  const remove = stores.people.remove.bind(stores.people);
  const people = {
    ...stores.people,
    remove: async (removed: Parameters<typeof remove>[0]) => {
      const late = { uid: 'late', accountId: person.id, generation: 0, since: 0 };
      await recordSignIn(store, { ...late, assurance: BY_PASSWORD }, 600);
      return remove(removed);
    },
  };
  await removePerson({ ...store, stores: { ...stores, people } }, 'alice');
  expect(await stores.artefacts.get('SignIn', 'late')).toBeUndefined();
});

test('the removal cleans up a passkey that was added meanwhile', async () => {
  const { store, stores, person } = await alice();
  const remove = stores.people.remove.bind(stores.people);
  const people = {
    ...stores.people,
    remove: async (removed: Parameters<typeof remove>[0]) => {
      await stores.passkeys.add({ ...somePasskey('late'), accountId: person.id }, 10);
      return remove(removed);
    },
  };
  await removePerson({ ...store, stores: { ...stores, people } }, 'alice');
  expect(await stores.passkeys.get('late')).toBeUndefined();
});
