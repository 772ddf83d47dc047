import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { findSignIn, recordSignIn } from '../access/sign-ins.ts';
import { newApiKey } from '../api-key.ts';
import { parseDirectoryFile } from './directory-file.ts';
import { everybodyIn } from '#shared/stores/contract/samples.ts';
import { testPeople } from '../directory.fixture.ts';
import { everybody } from '../everybody.ts';
import { formatDirectoryFile } from './format-directory.ts';
import { importDirectory } from './import-directory.ts';
import { ALL_REALMS } from '#shared/stores/people.ts';
import { localDirectory } from '../local.ts';
import { localVerifiers } from '../local-verifiers.ts';
import { addPerson, disablePerson, PeopleError, setKerberos, setPassword } from '../people.ts';
import { PROOF, SEAL } from '../verifier-kind.fixture.ts';

const PASSWORD = 'correct horse battery staple';
const KINDS = [PROOF, SEAL];
const REALMS = [{ realm: 'one', kinds: KINDS }];

type Installation = Awaited<ReturnType<typeof installation>>;

async function installation() {
  const people = await testPeople(undefined, REALMS);
  return { ...people, store: { ...people.store, stores: people.stores } };
}

/** With alice, the disabled bob and a key. */
async function full() {
  const made = await installation();
  const { store, stores } = made;
  await addPerson(store, { name: 'alice', password: PASSWORD });
  await addPerson(store, { name: 'bob', password: PASSWORD });
  await setKerberos(store, 'alice', ['alice@A']);
  await disablePerson(store, 'bob');
  const { id, secret_hash } = newApiKey(store.random);
  const members = { application: 'App', realm: 'one', scopes: ['a'], created_at: 1, used_at: 5 };
  await stores.apiKeys.add({ id, secret_hash, ...members });
  return { ...made, keyId: id };
}

const exported = async ({ stores }: Installation) =>
  parseDirectoryFile(
    await buffer(
      Readable.from(formatDirectoryFile(everybody(stores.people), await stores.apiKeys.list())),
    ),
    KINDS,
  );

/** All that is kept; who was changed more often has another version, which does not count. */
const kept = async (place: Installation) => ({
  ...(await exported(place)),
  derived: (await everybodyIn(place.stores)).map(({ name, aliases, verifier_set }) => [
    name,
    aliases,
    verifier_set,
  ]),
});

const enters = async ({ stores, passwords }: Installation, name: string) =>
  localDirectory({ ...stores, passwords, demo: true }).authenticate(name, PASSWORD);

test('into an empty directory: all as it was, and every way in works', async () => {
  const before = await full();
  const after = await installation();
  expect(await importDirectory(after.store, await exported(before))).toEqual({
    people: { added: 2, replaced: 0 },
    api_keys: { added: 1, replaced: 0 },
  });
  expect(await kept(after)).toEqual(await kept(before));
  expect(await enters(after, 'alice')).toMatchObject({ name: 'alice' });
  expect(await enters(after, 'bob')).toBeUndefined();
  const ask = async ({ stores }: Installation) => {
    const verifiers = localVerifiers({ people: stores.people, demo: true });
    return [
      await verifiers.find('proof one', 'one', { name: 'alice' }),
      await verifiers.find('proof one', 'one', { handle: PROOF.handle?.('alice', 'one') ?? '' }),
      await verifiers.find('seal one', ALL_REALMS, { name: 'alice' }),
      await verifiers.kerberos('alice@A'),
    ];
  };
  expect(await ask(after)).toEqual(await ask(before));
  expect(await ask(after)).not.toContain(undefined);
});

test('twice: everything is replaced, and is the same', async () => {
  const place = await full();
  const before = await kept(place);
  expect(await importDirectory(place.store, await exported(place))).toEqual({
    people: { added: 0, replaced: 2 },
    api_keys: { added: 0, replaced: 1 },
  });
  expect(await kept(place)).toEqual(before);
});

test('who is replaced has the password of the file again, and all that they had opened has ended', async () => {
  const place = await full();
  const file = await exported(place);
  const { id } = await setPassword(place.store, 'alice', 'another password');
  const generation = await place.stores.revocations.generation('person', id);
  const signIn = { accountId: id, generation, since: 0, uid: 'browser' };
  await recordSignIn(place.store, signIn, 600);
  expect(await findSignIn(place.store, 'browser')).toBeDefined();
  await importDirectory(place.store, file);
  expect(await findSignIn(place.store, 'browser')).toBeUndefined();
  expect(await place.stores.revocations.generation('person', id)).toBe(generation + 1);
  expect(await enters(place, 'alice')).toMatchObject({ generation: generation + 1 });
});

test('a key is as it was: its end, its scopes; who and what is not in the file stays', async () => {
  const place = await full();
  const file = await exported(place);
  await place.stores.apiKeys.expire(place.keyId, 1);
  await place.stores.apiKeys.add({ ...file.api_keys[0]!, id: 'another' });
  await addPerson(place.store, { name: 'carol', password: PASSWORD });
  await importDirectory(place.store, file);
  expect(await place.stores.apiKeys.get(place.keyId)).toEqual(file.api_keys[0]);
  expect(await place.stores.apiKeys.get('another')).toBeDefined();
  expect(await enters(place, 'carol')).toBeDefined();
});

test('somebody of the same name and another id keeps the id that their documents know', async () => {
  const file = await exported(await full());
  const place = await installation();
  const { id } = await addPerson(place.store, { name: 'alice', password: 'another password' });
  await importDirectory(place.store, file);
  expect(await enters(place, 'alice')).toMatchObject({ id, generation: 1 });
  expect(await place.stores.people.get(file.people[0]?.id ?? '')).toBeUndefined();
});

describe('refused before anything is changed', () => {
  test('an id that belongs to another name here', async () => {
    const place = await full();
    const file = await exported(place);
    const before = await kept(place);
    const people = file.people.map((person) => ({ ...person, name: `${person.name}2` }));
    const importing = importDirectory(place.store, { ...file, people });
    await expect(importing).rejects.toThrow(PeopleError);
    await expect(importing).rejects.toThrow(
      /^the id \S+ is alice2's in the file and alice's here$/,
    );
    expect(await kept(place)).toEqual(before);
  });

  test('a principal that belongs to another name here, also of the last person in the file', async () => {
    const file = await exported(await full());
    const place = await installation();
    await addPerson(place.store, { name: 'carol', password: PASSWORD });
    await setKerberos(place.store, 'carol', ['alice@A']);
    const before = await kept(place);
    const people = file.people.toReversed();
    await expect(importDirectory(place.store, { ...file, people })).rejects.toThrow(
      "kerberos:alice@A is alice's in the file and carol's here",
    );
    expect(await kept(place)).toEqual(before);
  });
});

test('ten at once through two openings of the store: each ends well or says to try again; the file is in', async () => {
  const file = await exported(await full());
  const place = await installation();
  const other = await testPeople(place.data, REALMS);
  const stores = [place.store, { ...other.store, stores: other.stores }];
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) => importDirectory(stores[index % 2]!, file)),
  );
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(PeopleError);
  }
  await importDirectory(place.store, file);
  expect(await exported(place)).toEqual(file);
});
