import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openPostgres } from '#shared/stores/postgres/open.ts';
import { type SharedStore, startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { active } from './active.ts';
import { argon2Once } from './argon2.fixture.ts';
import { type Arrival, arrive } from './arrive.ts';
import { linkIdentity, unlinkIdentity } from './linked-identities.ts';
import { addPerson } from './people.ts';
import { createPasswords } from './password.ts';

let shared: SharedStore;
beforeAll(async () => {
  shared = await startSharedStore();
});
afterAll(async () => shared[Symbol.asyncDispose]());

const parts = { random: systemRandom, clock: systemClock };
const STORES: Readonly<Record<string, () => Promise<Stores>>> = {
  SQLite: async () => openSqlite({ folder: await storeFolder(), ...parts }),
  'PostgreSQL with Redis': () => openPostgres(shared.store, { ...parts, log: silentLog, skew: 5 }),
};

const storeOf = (stores: Stores) => ({
  stores,
  ...parts,
  passwords: createPasswords(argon2Once),
  longestLife: 605,
  realms: [],
});

const CAROL: Arrival = {
  source: 'corp',
  subject: 'subject-1',
  names: ['carol'],
  profile: {
    display_name: 'Carol',
    emails: [{ address: 'carol@corp.example', verified: true }],
    groups: ['staff'],
  },
};
const CREATED = { newcomers: true, reserved: [] };

async function everybodyIn({ people }: Stores): Promise<readonly PersonRecord[]> {
  const all: PersonRecord[] = [];
  for await (const slice of people.list()) all.push(...slice);
  return all;
}

const idsOf = (arrived: readonly (PersonRecord | string)[]) =>
  new Set(arrived.map((one) => (typeof one === 'string' ? one : one.id)));

describe.each(Object.keys(STORES))('on %s', (name) => {
  let stores: Stores;
  const open = async () => (STORES[name] ?? STORES['SQLite'])?.() as Promise<Stores>;
  beforeAll(async () => {
    stores = await open();
  });
  afterAll(async () => stores[Symbol.asyncDispose]());

  test('an arrival changes no other person who gets the name meanwhile', async () => {
    const store = storeOf(stores);
    const subject = 'removed meanwhile';
    const profile = { groups: ['staff'] };
    const said = { source: 'corp', subject, names: ['hedy'], profile };
    const before = await arrive(store, said, CREATED);
    if (typeof before === 'string') throw new Error(before);
    await stores.people.remove(before);
    const hedy = await addPerson(store, { name: 'hedy' }, 'reused');
    // The arrival has read the record before the removal.
    const people = { getByAlias: async () => before };
    const seeing = new Proxy(stores, {
      get: (target, member) => {
        const value: unknown = Reflect.get(target, member);
        if (member === 'people') return people;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    expect(await arrive({ ...store, stores: seeing }, said, CREATED)).toBe('unknown');
    expect(await stores.people.get(hedy.id)).toEqual(hedy);
    await stores.people.remove(hedy);
  });

  test('fifty arrivals of one new subject at once make one person', async () => {
    const arrived = await Promise.all(
      Array.from({ length: 50 }, () => arrive(storeOf(stores), CAROL, CREATED)),
    );
    expect(idsOf(arrived).size).toBe(1);
    expect(await everybodyIn(stores)).toMatchObject([{ name: 'carol', origin: CAROL_ORIGIN }]);
  });

  test('twenty people with one name and one unverified address, at once, are twenty people', async () => {
    const emails = [{ address: 'dora@corp.example', verified: false }];
    const arrivals = Array.from({ length: 20 }, (_, index) => ({
      source: 'corp',
      subject: `dora ${index}`,
      names: ['dora'],
      profile: { emails },
    }));
    const arrived = await Promise.all(arrivals.map((one) => arrive(storeOf(stores), one, CREATED)));
    expect(idsOf(arrived).size).toBe(20);
  });

  test('one of twenty people with one verified address arrives, if all come at once', async () => {
    const emails = [{ address: 'erin@corp.example', verified: true }];
    const arrivals = Array.from({ length: 20 }, (_, index) => ({
      source: 'corp',
      subject: `erin ${index}`,
      names: ['erin'],
      profile: { emails },
    }));
    const arrived = await Promise.all(arrivals.map((one) => arrive(storeOf(stores), one, CREATED)));
    const refused = arrived.filter((one) => typeof one === 'string');
    expect([refused.length, new Set(refused)]).toEqual([19, new Set(['address'])]);
  });

  test('one of ten people has an account that all link at once', async () => {
    const store = storeOf(stores);
    const people: PersonRecord[] = [];
    for (let index = 0; index < 10; index += 1) {
      people.push(await addPerson(store, { name: `frank-${index}` }));
    }
    const identity = { source: 'corp', subject: 'linked by many' };
    await Promise.allSettled(people.map((person) => linkIdentity(store, person, identity)));
    const all = await everybodyIn(stores);
    expect(all.filter(({ linked }) => linked !== undefined)).toHaveLength(1);
  });

  test('an account that is linked to one person arrives as that person, whatever it says', async () => {
    const store = storeOf(stores);
    const gina = await addPerson(store, { name: 'gina' });
    await linkIdentity(store, gina, { source: 'corp', subject: 'of gina' });
    const said = { ...CAROL, subject: 'of gina' };
    expect(await arrive(store, said, CREATED)).toMatchObject({ id: gina.id, name: 'gina' });
    expect((await stores.people.get(gina.id))?.profile).toBeUndefined();
    expect(await unlinkIdentity(store, gina, 'corp', () => true)).toBe('removed');
    expect(await arrive(store, said, { ...CREATED, newcomers: false })).toBe('unknown');
  });
});

const CAROL_ORIGIN = {
  source: 'corp',
  subject: 'subject-1',
  managed: ['display_name', 'emails', 'groups'],
};

test('a person of a source that left the configuration is not active', () => {
  const person = {
    id: 'c',
    name: 'carol',
    origin: { source: 'corp', subject: 'x', managed: [] },
    created_at: 0,
    version: 0,
  };
  expect(active(person, { demo: false, sources: new Set(['corp']) })).toBe(person);
  expect(active(person, { demo: true, sources: new Set(['other']) })).toBeUndefined();
});

test('a person with a linked account of such a source stays active', () => {
  const linked = [{ source: 'corp', subject: 'x', created_at: 0 }];
  const person = { id: 'c', name: 'carol', linked, created_at: 0, version: 0 };
  expect(active(person, { demo: false, sources: new Set() })).toBe(person);
});
