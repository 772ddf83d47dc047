import { EventEmitter } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { ALONE, Line, type Turn } from '#shared/base/line.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import type { Authenticated } from '#shared/people/directory.ts';
import { disablePerson, setPassword } from '#shared/people/people.ts';
import { systemRandom } from '#shared/base/random.ts';
import { RevocationSet } from '#shared/stores/revocation/revocation-set.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { RIGHT, twoProcesses } from './two-processes.fixture.ts';
import { createVerifiedPasswords } from './verified-passwords.ts';

const turn = () => ALONE;

async function setup() {
  const all = await twoProcesses();
  const passwordsOf = ({ directory, feed, clock }: typeof all | typeof all.there) =>
    createVerifiedPasswords({ directory, feed, clock, random: systemRandom });
  return { ...all, passwords: passwordsOf(all), others: passwordsOf(all.there) };
}

/** A directory of one person with the answers that a test sets, and a feed. */
function scripted(
  authenticate: (revocations: RevocationSet, turn: Turn) => Promise<Authenticated | undefined>,
) {
  const revocations = new RevocationSet();
  revocations.epoch = 'e1';
  let asked = 0;
  const passwords = createVerifiedPasswords({
    directory: {
      authenticate: (_name, _password, its) => ((asked += 1), authenticate(revocations, its)),
    },
    feed: { latest: () => revocations },
    clock: { now: () => 0, monotonic: () => 0 },
    random: systemRandom,
  });
  return { passwords, revocations, asked: () => asked };
}
const raise = (set: RevocationSet, generation: number) =>
  set.apply({ kind: 'person', id: '1', generation }, Infinity);

describe('a right password', () => {
  test('a right password is hashed at its first use, and again after five minutes', async () => {
    const { passwords, argon2, alice, clock } = await setup();
    const person = { id: alice.id, name: 'alice' };
    for (let n = 0; n < 10; n += 1)
      expect(await passwords.check('alice', RIGHT, turn)).toEqual(person);
    expect(argon2.verifications).toBe(1);
    clock.advance(299);
    await passwords.check('alice', RIGHT, turn);
    expect(argon2.verifications).toBe(1);
    clock.advance(1);
    expect(await passwords.check('alice', RIGHT, turn)).toEqual(person);
    expect(argon2.verifications).toBe(2);
  });

  test('a right password is hashed once for all concurrent requests', async () => {
    const { passwords, argon2 } = await setup();
    const gate = Promise.withResolvers<void>();
    argon2.gate = gate.promise;
    const all = Promise.all(
      Array.from({ length: 20 }, async () => passwords.check('alice', RIGHT, turn)),
    );
    while (argon2.verifications === 0) await new Promise(setImmediate);
    gate.resolve();
    expect((await all).map((person) => person?.name)).toEqual(Array(20).fill('alice'));
    expect(argon2.verifications).toBe(1);
  });

  test('a right password is hashed for the next caller if the first caller disconnects while it waits', async () => {
    const line = new Line({ lanes: 1, most: 10, tooMany: () => new Error('no place') });
    const alice = { id: '1', name: 'alice', generation: 0 };
    let hashed = 0;
    const { passwords } = scripted((_, its) => line.run(its, async () => ((hashed += 1), alice)));
    const gate = Promise.withResolvers<void>();
    const before = line.run(ALONE, () => gate.promise);
    const clients = [1, 2, 3].map(() => Object.assign(new EventEmitter(), { destroyed: false }));
    const all = Promise.allSettled(
      clients.map(async (client) =>
        passwords.check('alice', RIGHT, () => ({ groups: ['addresses'], client })),
      ),
    );
    const [first] = clients;
    if (first) first.destroyed = true;
    first?.emit('close');
    gate.resolve();
    await before;
    const person = { status: 'fulfilled', value: { id: '1', name: 'alice' } };
    expect(await all).toEqual([
      { status: 'rejected', reason: new Error('no place') },
      person,
      person,
    ]);
    expect(hashed).toBe(1);
  });
});

describe('a wrong password', () => {
  test.each([
    ['wrong', 'alice', 'wrong password'],
    ['of an unknown name', 'mallory', RIGHT],
    ['of a disabled person', 'bob', RIGHT],
    ['with the colon elsewhere', 'alice:correct horse', RIGHT.slice(RIGHT.indexOf(':') + 1)],
    ['with the quotes of JSON', 'alice","', RIGHT],
  ])('%s: is hashed every time, also after the right password', async (_, name, password) => {
    const { passwords, argon2 } = await setup();
    await passwords.check('alice', RIGHT, turn);
    for (let n = 1; n < 4; n += 1) {
      expect(await passwords.check(name, password, turn)).toBeUndefined();
      expect(argon2.verifications).toBe(1 + n);
    }
  });
});

describe('a change of the person', () => {
  test.each([
    [
      'a new password',
      (at: Awaited<ReturnType<typeof setup>>) => setPassword(at.store, 'alice', 'another one'),
    ],
    ['disabled', (at: Awaited<ReturnType<typeof setup>>) => disablePerson(at.store, 'alice')],
  ])('%s: the next request of every process is refused', async (_, change) => {
    const at = await setup();
    expect(await at.passwords.check('alice', RIGHT, turn)).toBeDefined();
    expect(await at.others.check('alice', RIGHT, turn)).toBeDefined();
    await change(at);
    expect(await at.passwords.check('alice', RIGHT, turn)).toBeUndefined();
    expect(await at.others.check('alice', RIGHT, turn)).toBeUndefined();
  });

  test('a change of password makes the new password valid at once', async () => {
    const { passwords, store } = await setup();
    await passwords.check('alice', RIGHT, turn);
    await setPassword(store, 'alice', 'another one');
    expect(await passwords.check('alice', 'another one', turn)).toBeDefined();
  });

  test('ending all sessions makes the server hash the same password again, once', async () => {
    const { passwords, store, alice, argon2 } = await setup();
    await passwords.check('alice', RIGHT, turn);
    await endEverything(store, alice.id);
    for (let n = 0; n < 3; n += 1)
      expect(await passwords.check('alice', RIGHT, turn)).toBeDefined();
    expect(argon2.verifications).toBe(2);
  });

  test('if the password changes while the old one is hashed, later requests with the old one are refused', async () => {
    const { passwords, store, argon2 } = await setup();
    const gate = Promise.withResolvers<void>();
    argon2.gate = gate.promise;
    const before = passwords.check('alice', RIGHT, turn);
    while (argon2.verifications === 0) await new Promise(setImmediate);
    await setPassword(store, 'alice', 'another one');
    const after = passwords.check('alice', RIGHT, turn);
    gate.resolve();
    expect(await after).toBeUndefined();
    expect(await before).toBeUndefined();
  });

  test('if the person changes during each of three hashings, the answer is 503', async () => {
    let generation = 0;
    const { passwords, asked } = scripted(async (revocations) => {
      const person = { id: '1', name: 'alice', generation };
      generation += 1;
      raise(revocations, generation);
      return person;
    });
    await expect(passwords.check('alice', RIGHT, turn)).rejects.toThrow(StoreUnavailable);
    expect(asked()).toBe(3);
  });
});

describe('the store', () => {
  test('a store with another epoch invalidates remembered passwords', async () => {
    const { passwords, revocations, asked } = scripted(async () => ({
      id: '1',
      name: 'alice',
      generation: 0,
    }));
    await passwords.check('alice', RIGHT, turn);
    revocations.epoch = 'e2';
    expect(await passwords.check('alice', RIGHT, turn)).toBeDefined();
    expect(asked()).toBe(2);
  });

  test('while the store does not answer, remembered passwords are not accepted', async () => {
    let silent = false;
    const revocations = new RevocationSet();
    const passwords = createVerifiedPasswords({
      directory: { authenticate: async () => ({ id: '1', name: 'alice', generation: 0 }) },
      feed: {
        latest() {
          if (silent) throw new StoreUnavailable('the feed is silent');
          return revocations;
        },
      },
      clock: { now: () => 0, monotonic: () => 0 },
      random: systemRandom,
    });
    expect(await passwords.check('alice', RIGHT, turn)).toBeDefined();
    silent = true;
    await expect(async () => passwords.check('alice', RIGHT, turn)).rejects.toThrow(
      StoreUnavailable,
    );
    silent = false;
    expect(await passwords.check('alice', RIGHT, turn)).toBeDefined();
  });

  test('if the store fails during a hashing, all waiting requests fail and no password is remembered', async () => {
    let failing = true;
    const { passwords, asked } = scripted(async () => {
      if (failing) throw new StoreUnavailable('down');
      return { id: '1', name: 'alice', generation: 0 };
    });
    const all = await Promise.allSettled(
      [1, 2].map(async () => passwords.check('alice', RIGHT, turn)),
    );
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    failing = false;
    expect(await passwords.check('alice', RIGHT, turn)).toBeDefined();
    expect(asked()).toBe(2);
  });
});

test('the number of passwords that are remembered is bounded', async () => {
  const { passwords, asked } = scripted(async () => ({ id: '1', name: 'alice', generation: 0 }));
  for (let n = 0; n < 20_000; n += 1) await passwords.check(`name-${n}`, RIGHT, turn);
  await passwords.check('name-0', RIGHT, turn);
  expect(asked()).toBe(20_001);
  await passwords.check('name-19999', RIGHT, turn);
  expect(asked()).toBe(20_001);
});
