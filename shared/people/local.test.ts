import { describe, expect, test } from '@jest/globals';
import { ALONE } from '#shared/base/line.ts';
import { everybodyIn } from '#shared/stores/contract/samples.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { testPeople } from './directory.fixture.ts';
import { passwordMark } from './password-mark.ts';
import { localDirectory } from './local.ts';
import { addPerson, disablePerson, enablePerson, setPassword } from './people.ts';

const RIGHT = 'correct horse battery staple';

/**
 * Creates alice, the disabled bob, carol without a password, and the person of the first start; records the questions
 * to the store.
 */
async function setup({ demo = true } = {}) {
  const { stores, argon2, passwords, store } = await testPeople();
  const alice = await addPerson(store, { name: 'alice', password: RIGHT });
  await addPerson(store, { name: 'bob', password: RIGHT });
  await disablePerson(store, 'bob');
  await addPerson(store, { name: 'demo', password: RIGHT, demo: true });
  await addPerson(store, { name: 'carol' });
  argon2.hashes = 0;
  const asked: string[] = [];
  const directory = localDirectory({
    people: {
      get: (id) => (asked.push('get'), stores.people.get(id)),
      getByName: (name) => (asked.push('getByName'), stores.people.getByName(name)),
    },
    revocations: {
      generation: (kind, id) => (
        asked.push(`generation ${kind}`),
        stores.revocations.generation(kind, id)
      ),
    },
    passwords,
    admitted: { demo, sources: new Set() },
  });
  return { directory, stores, store, argon2, alice, asked };
}

describe('authenticate', () => {
  test.each([
    ['the right password', 'alice', RIGHT, true],
    ['the name in another form', 'ＡＬＩＣＥ', RIGHT, true],
    ['another space in the password', 'alice', RIGHT.replaceAll(' ', '\u00a0'), true],
    ['a wrong password', 'alice', 'wrong', false],
    ['the password in another case', 'alice', RIGHT.toUpperCase(), false],
    ['the beginning of the password', 'alice', RIGHT.slice(0, -1), false],
    ['an unknown name', 'mallory', RIGHT, false],
    ['a name that nobody can have', 'al ice', RIGHT, false],
    ['an endless name', 'x'.repeat(100_000), RIGHT, false],
    ['no name', '', RIGHT, false],
    ['a name of JavaScript', '__proto__', RIGHT, false],
    ['a person without a password', 'carol', RIGHT, false],
    ['a disabled person', 'bob', RIGHT, false],
    ['a disabled person and a wrong password', 'bob', 'wrong', false],
  ])(
    '%s: one argon2 call and the same questions to the store',
    async (_, name, password, enters) => {
      const { directory, argon2, alice, asked } = await setup();
      const person = await directory.authenticate(name, password, ALONE);
      const shown = {
        id: alice.id,
        name: 'alice',
        changedAt: alice.created_at,
        generation: 0,
        passwordMark: passwordMark(alice),
      };
      expect(person).toEqual(enters ? shown : undefined);
      expect([argon2.verifications, argon2.hashes]).toEqual([1, 0]);
      expect(asked).toEqual(['getByName', 'generation person', 'get']);
    },
  );

  test.each([
    ['no password', ''],
    ['one of 1025 bytes', 'x'.repeat(1025)],
    ['one of a megabyte', 'x'.repeat(1_000_000)],
    ['one with a control character', `${RIGHT}\0`],
  ])('%s is refused before any look-up or hashing', async (_what, password) => {
    const { directory, argon2, asked } = await setup();
    for (const name of ['alice', 'bob', 'mallory']) {
      expect(await directory.authenticate(name, password, ALONE)).toBeUndefined();
    }
    expect([argon2.verifications, asked]).toEqual([0, []]);
  });

  test('the person of the first start signs in only in development, at the same cost', async () => {
    expect(await (await setup()).directory.authenticate('demo', RIGHT, ALONE)).toBeDefined();
    const { directory, argon2 } = await setup({ demo: false });
    expect(await directory.authenticate('demo', RIGHT, ALONE)).toBeUndefined();
    expect(argon2.verifications).toBe(1);
  });

  test('a person who was disabled and enabled again signs in, with the raised generation', async () => {
    const { directory, store } = await setup();
    await enablePerson(store, 'bob');
    expect(await directory.authenticate('bob', RIGHT, ALONE)).toMatchObject({ generation: 3 });
  });

  test('a store that does not answer gives neither yes nor no', async () => {
    const { stores, passwords } = await testPeople();
    const silent = async () => Promise.reject(new StoreUnavailable('silent'));
    const directory = localDirectory({
      people: { get: silent, getByName: silent },
      revocations: stores.revocations,
      passwords,
      admitted: { demo: true, sources: new Set() },
    });
    await expect(directory.authenticate('alice', RIGHT, ALONE)).rejects.toThrow(StoreUnavailable);
    await expect(directory.find('1')).rejects.toThrow(StoreUnavailable);
  });
});

describe('a change of the person during a password check', () => {
  test.each([
    ['passwd', setPassword],
    ['disable', disablePerson],
  ])('%s: the old password gives a generation that has ended', async (_, change) => {
    const { directory, store, stores, argon2, alice } = await setup();
    const gate = Promise.withResolvers<void>();
    argon2.gate = gate.promise;
    const slow = directory.authenticate('alice', RIGHT, ALONE);
    while (argon2.verifications === 0) await new Promise(setImmediate);
    await change(store, 'alice', 'another password');
    gate.resolve();
    const person = await slow;
    const generation = await stores.revocations.generation('person', alice.id);
    expect(person?.generation).toBe(0);
    expect(generation).toBeGreaterThan(0);
  });

  test('passwd between any two questions to the store never gives an old password with a new generation', async () => {
    for (const at of ['getByName', 'generation', 'get'] as const) {
      const { store, stores, passwords } = await testPeople();
      const { id } = await addPerson(store, { name: 'alice', password: RIGHT });
      let changes = 0;
      const then = async <T>(question: string, answer: T) => {
        if (question === at && changes++ === 0) await setPassword(store, 'alice', 'another one');
        return answer;
      };
      const directory = localDirectory({
        people: {
          get: async (key) => then('get', await stores.people.get(key)),
          getByName: async (name) => then('getByName', await stores.people.getByName(name)),
        },
        revocations: {
          generation: async (kind, key) =>
            then('generation', await stores.revocations.generation(kind, key)),
        },
        passwords,
        admitted: { demo: true, sources: new Set() },
      });
      const entered = await directory.authenticate('alice', RIGHT, ALONE);
      const now = await stores.revocations.generation('person', id);
      expect(changes).toBeGreaterThan(0);
      expect(now).toBe(2);
      expect(entered?.generation ?? -1).toBeLessThan(now);
    }
  });
});

describe('find', () => {
  test('find returns only people who may sign in', async () => {
    const { directory, stores, alice } = await setup({ demo: false });
    expect(await directory.find(alice.id)).toEqual({
      id: alice.id,
      name: 'alice',
      changedAt: alice.created_at,
    });
    const others = (await everybodyIn(stores)).filter(
      ({ name }) => name === 'bob' || name === 'demo',
    );
    expect(others).toHaveLength(2);
    for (const { id } of others) expect(await directory.find(id)).toBeUndefined();
    for (const id of ['', 'nobody', '__proto__', 'alice']) {
      expect(await directory.find(id)).toBeUndefined();
    }
  });
});
