import { describe, expect, test } from '@jest/globals';
import { StoreUnavailable } from '#shared/stores/stores.ts';
import { userhashOf } from './digest-hash.ts';
import { testPeople } from './directory.fixture.ts';
import { localVerifiers } from './local-verifiers.ts';
import { addPerson, disablePerson, enablePerson, setKerberos, setPassword } from './people.ts';
import type { RealmNeeds } from './realms.ts';
import type { Verifiers } from './verifiers.ts';

const PASSWORD = 'correct horse battery staple';
const REALMS: RealmNeeds[] = [
  { realm: 'one', digest: ['SHA-256', 'MD5'], scram: ['SHA-256'] },
  { realm: 'two', digest: ['SHA-256'], scram: ['SHA-256', 'SHA-1'] },
];

/** alice, the disabled bob and the person of the first start; what is asked of the store is kept. */
async function made({ demo = true } = {}) {
  const { stores, store } = await testPeople(undefined, REALMS);
  const alice = await addPerson(store, { name: 'alice', password: PASSWORD });
  await addPerson(store, { name: 'bob', password: PASSWORD });
  await addPerson(store, { name: 'demo', password: PASSWORD, demo: true });
  for (const name of ['alice', 'bob', 'demo']) {
    await setKerberos(store, name, [`${name}@EXAMPLE.COM`]);
  }
  await disablePerson(store, 'bob');
  const asked: string[] = [];
  const verifiers = localVerifiers({
    people: {
      getByName: (name) => (asked.push('getByName'), stores.people.getByName(name)),
      getByAlias: (alias) => (asked.push('getByAlias'), stores.people.getByAlias(alias)),
      getDigest: (...args) => (asked.push('getDigest'), stores.people.getDigest(...args)),
    },
    demo,
  });
  return { stores, store, verifiers, asked, person: { id: alice.id, name: 'alice' } };
}

/** The four questions about one person. */
const QUESTIONS: readonly (readonly [
  string,
  (verifiers: Verifiers, name: string) => Promise<unknown>,
])[] = [
  ['digest', (verifiers, name) => verifiers.digest('one', 'SHA-256', name)],
  [
    'digestByUserhash',
    (verifiers, name) =>
      verifiers.digestByUserhash('one', 'SHA-256', userhashOf('SHA-256', name, 'one')),
  ],
  ['scram', (verifiers, name) => verifiers.scram('SHA-256', name)],
  ['kerberos', (verifiers, name) => verifiers.kerberos(`${name}@EXAMPLE.COM`)],
];

describe.each(QUESTIONS)('%s', (_, ask) => {
  test('who is not there, is disabled, or is the demo in production: undefined, after as many questions', async () => {
    const { verifiers, asked } = await made({ demo: false });
    expect(await ask(verifiers, 'alice')).toBeDefined();
    for (const name of ['nobody', 'bob', 'demo', '', '__proto__', 'x'.repeat(100_000), '\ud800']) {
      expect(await ask(verifiers, name)).toBeUndefined();
    }
    expect(asked).toHaveLength(8);
    expect(new Set(asked).size).toBe(1);
  });

  test('in development the demo is let in', async () => {
    expect(await ask((await made()).verifiers, 'demo')).toBeDefined();
  });

  test('disabled and enabled: seen by the next question', async () => {
    const { store, verifiers } = await made();
    await disablePerson(store, 'alice');
    expect(await ask(verifiers, 'alice')).toBeUndefined();
    await enablePerson(store, 'alice');
    expect(await ask(verifiers, 'alice')).toBeDefined();
  });

  test('a store that does not answer is neither a yes nor a no', async () => {
    const silent = async () => Promise.reject(new StoreUnavailable('silent'));
    const verifiers = localVerifiers({
      people: { getByName: silent, getByAlias: silent, getDigest: silent },
      demo: true,
    });
    await expect(ask(verifiers, 'alice')).rejects.toThrow(StoreUnavailable);
  });
});

describe('Digest', () => {
  test('RFC 7616 section 3.4.2: the name exactly as it stands in A1', async () => {
    const { stores, verifiers, person } = await made();
    const whole = await stores.people.getWhole(person.id);
    const kept = whole?.digests.find(({ realm, hash }) => realm === 'one' && hash === 'MD5');
    expect(await verifiers.digest('one', 'MD5', 'alice')).toEqual({ person, ha1: kept?.ha1 });
    for (const name of ['Alice', 'ＡＬＩＣＥ', 'alice ', person.id]) {
      expect(await verifiers.digest('one', 'MD5', name)).toBeUndefined();
    }
  });

  test('a realm and a hash that nothing is kept for', async () => {
    const { verifiers } = await made();
    expect(await verifiers.digest('two', 'MD5', 'alice')).toBeUndefined();
    expect(await verifiers.digest('one', 'SHA-512-256', 'alice')).toBeUndefined();
    for (const realm of ['three', '', '__proto__', 'constructor']) {
      expect(await verifiers.digest(realm, 'MD5', 'alice')).toBeUndefined();
    }
  });

  test('RFC 7616 section 3.4.4: a userhash is of one realm and one hash', async () => {
    const { verifiers, person } = await made();
    const userhash = userhashOf('SHA-256', 'alice', 'one');
    const found = await verifiers.digestByUserhash('one', 'SHA-256', userhash);
    expect(found).toEqual(await verifiers.digest('one', 'SHA-256', 'alice'));
    expect(found?.person).toEqual(person);
    expect(await verifiers.digestByUserhash('two', 'SHA-256', userhash)).toBeUndefined();
    expect(await verifiers.digestByUserhash('one', 'MD5', userhash)).toBeUndefined();
    for (const wrong of [userhash.toUpperCase(), userhash.slice(1), 'alice', '', 'a:b']) {
      expect(await verifiers.digestByUserhash('one', 'SHA-256', wrong)).toBeUndefined();
    }
  });

  test('a name in clear is no userhash, and an alias of Kerberos neither', async () => {
    const { verifiers } = await made();
    const userhash = userhashOf('SHA-256', 'alice', 'one');
    expect(await verifiers.digest('one', 'SHA-256', userhash)).toBeUndefined();
    expect(await verifiers.kerberos(`digest:SHA-256:${userhash}`)).toBeUndefined();
    expect(
      await verifiers.digestByUserhash('one', 'SHA-256', 'kerberos:alice@EXAMPLE.COM'),
    ).toBeUndefined();
  });
});

describe('SCRAM', () => {
  test('RFC 7804 section 5.1: the keys that are kept, for the name in any form', async () => {
    const { stores, verifiers, person } = await made();
    const kept = (await stores.people.get(person.id))?.scram?.['SHA-1'];
    for (const name of ['alice', 'Alice', 'ＡＬＩＣＥ']) {
      const found = await verifiers.scram('SHA-1', name);
      expect(found?.person).toEqual(person);
      expect(found?.salt.toString('base64')).toBe(kept?.salt);
      expect(found?.iterations).toBe(kept?.iterations);
      expect(found?.storedKey.toString('base64')).toBe(kept?.stored_key);
      expect(found?.serverKey.toString('base64')).toBe(kept?.server_key);
    }
  });

  test('a hash that nothing is kept for', async () => {
    const { store, verifiers } = await made();
    const realms = [{ realm: 'one', digest: [], scram: ['SHA-256'] }] as const;
    await setPassword({ ...store, realms }, 'alice', PASSWORD);
    expect(await verifiers.scram('SHA-256', 'alice')).toBeDefined();
    expect(await verifiers.scram('SHA-1', 'alice')).toBeUndefined();
  });
});

test('RFC 4559: the realm belongs to a principal, and so does its case', async () => {
  const { store, verifiers, person } = await made();
  expect(await verifiers.kerberos('alice@EXAMPLE.COM')).toEqual(person);
  for (const other of ['alice@OTHER', 'alice@example.com', 'Alice@EXAMPLE.COM', 'alice']) {
    expect(await verifiers.kerberos(other)).toBeUndefined();
  }
  await setKerberos(store, 'alice', []);
  expect(await verifiers.kerberos('alice@EXAMPLE.COM')).toBeUndefined();
});

test('passwd: every verifier is another with the next question', async () => {
  const { store, verifiers } = await made();
  const ask = () => Promise.all(QUESTIONS.slice(0, 3).map(([, of]) => of(verifiers, 'alice')));
  const before = await ask();
  await setPassword(store, 'alice', 'another password');
  const after = await ask();
  expect(after).not.toContain(undefined);
  after.forEach((verifier, index) => expect(verifier).not.toEqual(before[index]));
});
