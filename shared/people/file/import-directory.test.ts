import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { BY_PASSWORD } from '../access/assurance.ts';
import { ALONE } from '#shared/base/line.ts';
import { entryOf } from '#shared/audit/entry.ts';
import { createRecorder } from '#shared/audit/recorder.ts';
import { auditSettings } from '#shared/audit/settings.ts';
import { silentLog } from '#shared/base/log.ts';
import { findSignIn, recordSignIn } from '../access/sign-ins.ts';
import { newApiKey } from '../api-key.ts';
import { parseDirectoryFile } from './directory-file.ts';
import {
  everybodyIn,
  passkeysIn,
  publicKeysIn,
  secondFactorsIn,
  someClient,
  somePasskey,
  someSecondFactor,
} from '#shared/stores/contract/samples.ts';
import { testPeople } from '../directory.fixture.ts';
import { everybody } from '../everybody.ts';
import { formatDirectoryFile } from './format-directory.ts';
import { importDirectory } from './import-directory.ts';
import { ALL_REALMS } from '#shared/stores/people/people.ts';
import type { KeyOwner, PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import { MOST_PASSKEYS } from '#shared/stores/credentials/passkeys.ts';
import { MOST_KEYS } from '../key-purposes.ts';
import { localDirectory } from '../local.ts';
import { localVerifiers } from '../local-verifiers.ts';
import { addPerson, disablePerson, PeopleError, setKerberos, setPassword } from '../people.ts';
import { readPublicKey } from '../public-key.ts';
import { setProfile } from '../set-profile.fixture.ts';
import { PROOF, SEAL } from '../verifier-kind.fixture.ts';

const PASSWORD = 'correct horse battery staple';
const KINDS = [PROOF, SEAL];
const REALMS = [{ realm: 'one', kinds: KINDS }];

type Installation = Awaited<ReturnType<typeof installation>>;

async function installation() {
  const people = await testPeople(undefined, REALMS);
  return { ...people, store: { ...people.store, stores: people.stores } };
}

const OPERATOR = { who: 'operator', how: 'command line' } as const;
const NOTHING = {
  people: [],
  api_keys: [],
  public_keys: [],
  passkeys: [],
  second_factors: [],
};

const spki = () => generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' });

const somePublicKey = (owner: KeyOwner): PublicKeyRecord => ({
  ...readPublicKey(spki(), 'Concealed'),
  scheme: 'Concealed',
  owner,
  name: 'Laptop',
  created_at: 1,
});

/** Creates alice with a key, a passkey and a second factor, the disabled bob, and two keys of an application. */
async function full() {
  const made = await installation();
  const { store, stores } = made;
  const alice = await addPerson(store, { name: 'alice', password: PASSWORD });
  await addPerson(store, { name: 'bob', password: PASSWORD });
  await setKerberos(store, 'alice', ['alice@A']);
  await disablePerson(store, 'bob');
  const { id, secret_hash } = newApiKey(store.random);
  const members = { application: 'App', realm: 'one', scopes: ['a'], created_at: 1, used_at: 5 };
  await stores.apiKeys.add({ id, secret_hash, ...members });
  const hers = somePublicKey({ kind: 'person', id: alice.id });
  for (const key of [hers, somePublicKey({ kind: 'application', id: 'App' })]) {
    expect(await stores.publicKeys.add(key, MOST_KEYS)).toBe('added');
  }
  const passkey = { ...somePasskey('AAAA'), accountId: alice.id };
  expect(await stores.passkeys.add(passkey, MOST_PASSKEYS)).toBe('added');
  const factor = {
    ...someSecondFactor(alice.id),
    id: 'set-up',
    sealed: 'AAAA',
    recovery: ['AAAA', 'BBBB'],
  };
  expect(await stores.secondFactors.add(factor)).toBe(true);
  return { ...made, keyId: id, hers, passkey, factor };
}

const exported = async ({ stores }: Installation) =>
  parseDirectoryFile(
    await buffer(
      Readable.from(
        formatDirectoryFile({
          people: everybody(stores.people),
          api_keys: await stores.apiKeys.list(),
          public_keys: await publicKeysIn(stores),
          passkeys: await passkeysIn(stores),
          second_factors: await secondFactorsIn(stores),
        }),
      ),
    ),
    KINDS,
  );

/** Returns all stored data without versions, since a person who was changed more often has a higher version. */
const kept = async (place: Installation) => ({
  ...(await exported(place)),
  derived: (await everybodyIn(place.stores)).map(({ name, aliases, search_keys, verifier_set }) => [
    name,
    aliases,
    search_keys,
    verifier_set,
  ]),
});

const enters = async ({ stores, passwords }: Installation, name: string) =>
  localDirectory({
    ...stores,
    passwords,
    admitted: { demo: true, sources: new Set() },
  }).authenticate(name, PASSWORD, ALONE);

test('an import into an empty directory restores all data, and every way to sign in works', async () => {
  const before = await full();
  const after = await installation();
  expect(await importDirectory(after.store, await exported(before))).toEqual({
    people: { added: 2, replaced: 0 },
    api_keys: { added: 1, replaced: 0 },
    public_keys: { added: 2, replaced: 0 },
    passkeys: { added: 1, replaced: 0 },
    second_factors: { added: 1, replaced: 0 },
  });
  expect(await kept(after)).toEqual(await kept(before));
  expect(await enters(after, 'alice')).toMatchObject({ name: 'alice' });
  expect(await enters(after, 'bob')).toBeUndefined();
  const ask = async ({ stores }: Installation) => {
    const verifiers = localVerifiers({
      people: stores.people,
      admitted: { demo: true, sources: new Set() },
    });
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

test('a second import replaces everything, and leaves the same data', async () => {
  const place = await full();
  const before = await kept(place);
  expect(await importDirectory(place.store, await exported(place))).toEqual({
    people: { added: 0, replaced: 2 },
    api_keys: { added: 0, replaced: 1 },
    public_keys: { added: 0, replaced: 2 },
    passkeys: { added: 0, replaced: 1 },
    second_factors: { added: 0, replaced: 1 },
  });
  expect(await kept(place)).toEqual(before);
});

test.each([
  ['api_keys', 1],
  ['public_keys', 0],
] as const)(
  'an import of %s alone records its event with the first change, and a second import %i more',
  async (part, more) => {
    const { api_keys, public_keys } = await exported(await full());
    const ofApp = {
      api_keys,
      public_keys: public_keys.filter((key) => key.owner.kind === 'application'),
    };
    const { store, stores } = await installation();
    const config = { audit: auditSettings.parse({}) };
    const recorder = createRecorder({ ...store, stores, log: silentLog, config }, OPERATOR);
    const file = { ...NOTHING, [part]: ofApp[part] };
    await importDirectory({ ...store, recorder }, file);
    const kinds = async () => (await stores.audit.open()).texts.map((text) => entryOf(text).kind);
    expect(await kinds()).toEqual(['directory.imported']);
    await importDirectory({ ...store, recorder }, file);
    expect(await kinds()).toHaveLength(1 + more);
  },
);

test("a replaced person has the file's password, and their sessions and grants have ended", async () => {
  const place = await full();
  const file = await exported(place);
  const { id } = await setPassword(place.store, 'alice', 'another password');
  const generation = await place.stores.revocations.generation('person', id);
  const whose = { accountId: id, generation, uid: 'browser' };
  const signIn = { ...whose, since: 0, assurance: BY_PASSWORD };
  await recordSignIn(place.store, signIn, 600);
  expect(await findSignIn(place.store, 'browser')).toBeDefined();
  await importDirectory(place.store, file);
  expect(await findSignIn(place.store, 'browser')).toBeUndefined();
  expect(await place.stores.revocations.generation('person', id)).toBe(generation + 1);
  expect(await enters(place, 'alice')).toMatchObject({ generation: generation + 1 });
});

test('the file replaces profiles, even by an empty one', async () => {
  const place = await full();
  const file = await exported(place);
  await setProfile(place.store, 'alice', () => ({ groups: ['Staff'] }));
  await importDirectory(place.store, file);
  expect((await everybodyIn(place.stores))[0]).not.toHaveProperty('profile');
});

test('a key keeps its end and scopes; people and keys that are not in the file stay', async () => {
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

test('a person with the same name and another id keeps the id that their documents refer to', async () => {
  const file = { ...(await exported(await full())), second_factors: [] };
  const place = await installation();
  const { id } = await addPerson(place.store, { name: 'alice', password: 'another password' });
  await importDirectory(place.store, file);
  expect(await enters(place, 'alice')).toMatchObject({ id, generation: 1 });
  expect(await place.stores.people.get(file.people[0]?.id ?? '')).toBeUndefined();
  const [key] = await place.stores.publicKeys.of({ kind: 'person', id });
  expect(key).toMatchObject({
    id: file.public_keys.find(({ owner }) => owner.kind === 'person')?.id,
  });
  const [passkey] = file.passkeys;
  expect(await place.stores.passkeys.of(id)).toEqual([{ ...passkey, accountId: id }]);
});

test('an existing public key stays as it is; a removed key is restored', async () => {
  const place = await full();
  const file = await exported(place);
  const { id } = place.hers;
  await place.stores.publicKeys.signOut(id, 7);
  await place.stores.publicKeys.touch(id, 100_000);
  const before = await place.stores.publicKeys.get(id);
  await importDirectory(place.store, file);
  expect(await place.stores.publicKeys.get(id)).toEqual(before);
  expect(before?.signed_out_at).toBe(7);
  await place.stores.publicKeys.remove(id);
  await importDirectory(place.store, file);
  expect(await place.stores.publicKeys.get(id)).toEqual(place.hers);
});

test('a person at the limit of keys gets no further key; the error says so, and the import can be repeated', async () => {
  const file = { ...(await exported(await full())), second_factors: [] };
  const place = await installation();
  const { id } = await addPerson(place.store, { name: 'alice', password: PASSWORD });
  const owner = { kind: 'person', id } as const;
  for (let n = 0; n < MOST_KEYS; n += 1) {
    await place.stores.publicKeys.add(somePublicKey(owner), MOST_KEYS);
  }
  await expect(importDirectory(place.store, file)).rejects.toThrow('more than 20 of one owner');
  const [first] = await place.stores.publicKeys.of(owner);
  await place.stores.publicKeys.remove(first?.id ?? '');
  await importDirectory(place.store, file);
  expect(await place.stores.publicKeys.of(owner)).toHaveLength(MOST_KEYS);
});

describe('a passkey that exists already', () => {
  test('WebAuthn section 6.1.1: the counter of an existing passkey does not go back; its name, uses and refusals stay, too', async () => {
    const place = await full();
    const file = await exported(place);
    const { passkeys } = place.stores;
    const { id, accountId } = place.passkey;
    await passkeys.use(id, { counter: 9, backedUp: false, at: 10 });
    await passkeys.use(id, { counter: 9, backedUp: false, at: 20 });
    await passkeys.rename(accountId, id, 'Phone');
    const before = await passkeys.get(id);
    expect(before).toMatchObject({ counter: 9, used_at: 10, refused_at: 20, name: 'Phone' });
    expect(await importDirectory(place.store, file)).toMatchObject({
      passkeys: { added: 0, replaced: 1 },
    });
    expect(await passkeys.get(id)).toEqual(before);
  });

  test.each([
    ['has a higher counter in the file', { counter: 8 }],
    ['has another key in the file', { counter: 1, publicKey: 'pQEC' }],
    ['is good for another domain in the file', { counter: 1, rpId: 'other.example' }],
  ])('an existing passkey is replaced if it %s', async (_, changes) => {
    const place = await full();
    const file = await exported(place);
    const passkeys = [{ ...place.passkey, ...changes }];
    await importDirectory(place.store, { ...file, passkeys });
    expect(await passkeysIn(place.stores)).toEqual(passkeys);
  });

  test('a passkey stays if the file has no passkeys; a removed passkey is restored', async () => {
    const place = await full();
    const file = await exported(place);
    const { id, accountId } = place.passkey;
    await importDirectory(place.store, { ...file, passkeys: [] });
    expect(await passkeysIn(place.stores)).toEqual([place.passkey]);
    await place.stores.passkeys.remove(accountId, id, 0);
    await importDirectory(place.store, file);
    expect(await passkeysIn(place.stores)).toEqual([place.passkey]);
  });
});

describe('the import of a second factor', () => {
  test('RFC 6238 section 5.2: steps and recovery codes that were used since the export stay used up', async () => {
    const place = await full();
    const file = await exported(place);
    const { secondFactors } = place.stores;
    const { accountId, id } = place.factor;
    expect(await secondFactors.useStep(accountId, id, 8, 5)).toBe(true);
    expect(await secondFactors.useRecovery(accountId, 'AAAA', 6)).toBeDefined();
    const before = await secondFactors.get(accountId);
    await importDirectory(place.store, file);
    expect(await secondFactors.get(accountId)).toEqual(before);
    expect(await secondFactors.useStep(accountId, id, 8, 7)).toBe(false);
    expect(await secondFactors.useRecovery(accountId, 'AAAA', 7)).toBeUndefined();
  });

  test('another set-up replaces the second factor, a removed one is restored, and a file without one removes none', async () => {
    const place = await full();
    const file = await exported(place);
    const { secondFactors } = place.stores;
    const { accountId } = place.factor;
    await secondFactors.remove(accountId);
    const later = { ...place.factor, id: 'later', step: 9 };
    await secondFactors.add(later);
    await importDirectory(place.store, { ...file, second_factors: [] });
    expect(await secondFactors.get(accountId)).toEqual(later);
    expect(await importDirectory(place.store, file)).toMatchObject({
      second_factors: { added: 0, replaced: 1 },
    });
    expect(await secondFactors.get(accountId)).toEqual(place.factor);
    await secondFactors.remove(accountId);
    await importDirectory(place.store, file);
    expect(await secondFactors.get(accountId)).toEqual(place.factor);
  });

  test('a second factor is refused before any change if its person has another id here: it could not be opened', async () => {
    const file = await exported(await full());
    const place = await installation();
    await addPerson(place.store, { name: 'alice', password: 'another password' });
    const before = await kept(place);
    await expect(importDirectory(place.store, file)).rejects.toThrow(
      /^the second factor of alice does not open under the id that alice has here/,
    );
    expect(await kept(place)).toEqual(before);
  });
});

test('a person at the limit of passkeys gets no further passkey; the error says so, and the import can be repeated', async () => {
  const file = { ...(await exported(await full())), second_factors: [] };
  const place = await installation();
  const { passkeys } = place.stores;
  const { id: accountId } = await addPerson(place.store, { name: 'alice', password: PASSWORD });
  for (let n = 0; n < MOST_PASSKEYS; n += 1) {
    await passkeys.add({ ...somePasskey(`AAAA${n}`), accountId }, MOST_PASSKEYS);
  }
  await expect(importDirectory(place.store, file)).rejects.toThrow('more than 20 of one owner');
  await passkeys.remove(accountId, 'AAAA0', 0);
  await importDirectory(place.store, file);
  expect(await passkeys.of(accountId)).toHaveLength(MOST_PASSKEYS);
});

test('a person without a password in the file loses their password and its verifiers', async () => {
  const place = await full();
  const file = await exported(place);
  const people = file.people.map((one) => {
    const { password_hash: _, ...person } = one;
    return { ...person, verifiers: [] };
  });
  for (const { stores, store } of [place, await installation()]) {
    await importDirectory(store, { ...file, people });
    const alice = await stores.people.getByName('alice');
    expect(alice).toMatchObject({ name: 'alice' });
    expect(alice).not.toHaveProperty('password_hash');
    expect((await stores.people.getWhole(alice?.id ?? ''))?.verifiers).toEqual([]);
    expect(await stores.passkeys.of(alice?.id ?? '')).toHaveLength(1);
  }
  expect(await enters(place, 'alice')).toBeUndefined();
});

describe('an import that is refused before any change', () => {
  test('a passkey that belongs to another person here is refused', async () => {
    const from = await full();
    const file = await exported(from);
    const place = await installation();
    const carol = await addPerson(place.store, { name: 'carol', password: PASSWORD });
    for (const accountId of [carol.id, 'gone']) {
      await place.stores.passkeys.removeAll(carol.id);
      await place.stores.passkeys.add({ ...from.passkey, accountId }, MOST_PASSKEYS);
      await expect(importDirectory(place.store, file)).rejects.toThrow(
        `the passkey ${from.passkey.id} belongs to another owner here`,
      );
      expect((await everybodyIn(place.stores)).map(({ name }) => name)).toEqual(['carol']);
      expect(await passkeysIn(place.stores)).toMatchObject([{ accountId }]);
    }
  });

  test('an id that belongs to another name here is refused', async () => {
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

  test('a principal that belongs to another name here is refused, even for the last person in the file', async () => {
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

  test.each([
    ["another person's", (id: string) => ({ kind: 'person', id }) as const],
    ["an application's", () => ({ kind: 'application', id: 'Other' }) as const],
    ['of somebody unknown here', () => ({ kind: 'person', id: 'gone' }) as const],
  ])('a public key that is %s here is refused', async (_, ownerOf) => {
    const from = await full();
    const file = await exported(from);
    const place = await installation();
    const carol = await addPerson(place.store, { name: 'carol', password: PASSWORD });
    await place.stores.publicKeys.add({ ...from.hers, owner: ownerOf(carol.id) }, MOST_KEYS);
    const there = async () => [await everybodyIn(place.stores), await publicKeysIn(place.stores)];
    const before = await there();
    await expect(importDirectory(place.store, file)).rejects.toThrow(
      `the key ${from.hers.id} belongs to another owner here`,
    );
    expect(await there()).toEqual(before);
  });

  test('RFC 9729 section 8: a public key that belongs to a client here is refused', async () => {
    const from = await full();
    const place = await installation();
    const der = Buffer.from(from.hers.spki, 'base64url');
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    const jwks = { keys: [{ ...key.export({ format: 'jwk' }) }] };
    await place.stores.clients.add({ ...someClient('c'), jwks });
    await expect(importDirectory(place.store, await exported(from))).rejects.toThrow(
      `the key ${from.hers.id} is that of a client here`,
    );
    expect(await everybodyIn(place.stores)).toEqual([]);
  });
});

test('each of ten imports at the same time, through two openings of the store, succeeds or asks to try again; the data is then complete', async () => {
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
