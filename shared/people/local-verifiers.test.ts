import { describe, expect, test } from '@jest/globals';
import { ALL_REALMS, type VerifierName } from '#shared/stores/people/people.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { testPeople } from './directory.fixture.ts';
import { localVerifiers } from './local-verifiers.ts';
import { addPerson, disablePerson, enablePerson, setKerberos, setPassword } from './people.ts';
import { OTHER_PROOF, OTHER_SEAL, PROOF, SEAL } from './verifier-kind.fixture.ts';
import type { Verifiers } from './verifiers.ts';

const PASSWORD = 'correct horse battery staple';
const REALMS = [
  { realm: 'one', kinds: [PROOF, OTHER_PROOF, SEAL] },
  { realm: 'two', kinds: [PROOF, SEAL] },
];

/**
 * Creates alice, the disabled bob, carol without a password, and the person of the first start; records the questions
 * to the store.
 */
async function made({ demo = true } = {}) {
  const { stores, store } = await testPeople(undefined, REALMS);
  const alice = await addPerson(store, { name: 'alice', password: PASSWORD });
  await addPerson(store, { name: 'bob', password: PASSWORD });
  await addPerson(store, { name: 'carol' });
  await addPerson(store, { name: 'demo', password: PASSWORD, demo: true });
  for (const name of ['alice', 'bob', 'demo']) {
    await setKerberos(store, name, [`${name}@EXAMPLE.COM`]);
  }
  await disablePerson(store, 'bob');
  const asked: string[] = [];
  const verifiers = localVerifiers({
    people: {
      getByAlias: (alias) => (asked.push('getByAlias'), stores.people.getByAlias(alias)),
      getVerifier: (...args) => (asked.push('getVerifier'), stores.people.getVerifier(...args)),
    },
    admitted: { demo, sources: new Set() },
  });
  return { stores, store, verifiers, asked, person: { id: alice.id, name: 'alice' } };
}

/** The handle of a name for `PROOF` in the realm `one`. */
const handleOf = (name: string) => PROOF.handle?.(name, 'one') ?? '';

/** The questions about one person. */
const QUESTIONS: readonly (readonly [
  string,
  (verifiers: Verifiers, name: string) => Promise<unknown>,
])[] = [
  ['by name', (verifiers, name) => verifiers.find('proof one', 'one', { name })],
  [
    'by handle',
    (verifiers, name) => verifiers.find('proof one', 'one', { handle: handleOf(name) }),
  ],
  ['in all realms', (verifiers, name) => verifiers.find('seal one', ALL_REALMS, { name })],
  ['kerberos', (verifiers, name) => verifiers.kerberos(`${name}@EXAMPLE.COM`)],
];

describe.each(QUESTIONS)('%s', (_, ask) => {
  test('an unknown or disabled person, or the demo person in production, gives undefined after as many reads of the store', async () => {
    const { verifiers, asked } = await made({ demo: false });
    expect(await ask(verifiers, 'alice')).toBeDefined();
    for (const name of [
      'nobody',
      'bob',
      'carol',
      'demo',
      '',
      '__proto__',
      'x'.repeat(100_000),
      '\ud800',
    ]) {
      expect(await ask(verifiers, name)).toBeUndefined();
    }
    expect(asked).toHaveLength(9);
    expect(new Set(asked).size).toBe(1);
  });

  test('in development the demo person is accepted', async () => {
    expect(await ask((await made()).verifiers, 'demo')).toBeDefined();
  });

  test('disabling and enabling a person has effect at the next question', async () => {
    const { store, verifiers } = await made();
    await disablePerson(store, 'alice');
    expect(await ask(verifiers, 'alice')).toBeUndefined();
    await enablePerson(store, 'alice');
    expect(await ask(verifiers, 'alice')).toBeDefined();
  });

  test('a store that does not answer gives neither yes nor no', async () => {
    const silent = async () => Promise.reject(new StoreUnavailable('silent'));
    const people = { getByAlias: silent, getVerifier: silent };
    const verifiers = localVerifiers({ people, admitted: { demo: true, sources: new Set() } });
    await expect(ask(verifiers, 'alice')).rejects.toThrow(StoreUnavailable);
  });
});

test('the verifier of exactly that kind, realm and name is found', async () => {
  const { stores, verifiers, person } = await made();
  const whole = await stores.people.getWhole(person.id);
  const kept = whole?.verifiers.find(({ realm, kind }) => realm === 'one' && kind === 'proof two');
  const find = (kind: string, realm: string, who: VerifierName) => verifiers.find(kind, realm, who);
  const found = { person, value: kept?.value };
  expect(await find('proof two', 'one', { name: 'alice' })).toEqual(found);
  expect(await find('proof two', 'one', { handle: kept?.handle ?? '' })).toEqual(found);
  for (const name of ['Alice', 'ＡＬＩＣＥ', 'alice ', person.id, handleOf('alice')]) {
    expect(await find('proof two', 'one', { name })).toBeUndefined();
  }
  for (const realm of ['two', 'three', ALL_REALMS, '__proto__', 'constructor']) {
    expect(await find('proof two', realm, { name: 'alice' })).toBeUndefined();
  }
  expect(await find('proof two', 'one', { handle: handleOf('alice') })).toBeUndefined();
  expect(await find('proof one', 'two', { handle: handleOf('alice') })).toBeUndefined();
  for (const handle of [
    handleOf('alice').toUpperCase(),
    'alice',
    '',
    'kerberos:alice@EXAMPLE.COM',
  ]) {
    expect(await find('proof one', 'one', { handle })).toBeUndefined();
  }
  expect(await find(OTHER_SEAL.kind, ALL_REALMS, { name: 'alice' })).toBeUndefined();
});

test('RFC 4559: the realm is part of a principal, and its case matters', async () => {
  const { store, verifiers, person } = await made();
  expect(await verifiers.kerberos('alice@EXAMPLE.COM')).toEqual(person);
  for (const other of ['alice@OTHER', 'alice@example.com', 'Alice@EXAMPLE.COM', 'alice']) {
    expect(await verifiers.kerberos(other)).toBeUndefined();
  }
  expect(await verifiers.kerberos(handleOf('alice'))).toBeUndefined();
  await setKerberos(store, 'alice', []);
  expect(await verifiers.kerberos('alice@EXAMPLE.COM')).toBeUndefined();
});

test('after passwd the next question gives other verifiers', async () => {
  const { store, verifiers } = await made();
  const ask = () => Promise.all(QUESTIONS.slice(0, 3).map(([, of]) => of(verifiers, 'alice')));
  const before = await ask();
  await setPassword(store, 'alice', 'another password');
  const after = await ask();
  expect(after).not.toContain(undefined);
  after.forEach((verifier, index) => expect(verifier).not.toEqual(before[index]));
});
