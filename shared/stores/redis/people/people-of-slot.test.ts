import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ALL_REALMS, type People, type PersonRecord } from '#shared/stores/people/people.ts';
import { everybodyIn, someVerifier, somePerson } from '../../contract/samples.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';
import { migrate, SCHEMA } from '../migrations/migrate.ts';
import { peopleOfSlot } from './people-of-slot.ts';

const BEFORE_THE_WRITE = /^SCRIPT \{test\}:people/;

let place: Awaited<ReturnType<typeof interruptedRedis>>;
let one: People;
let other: People;
beforeAll(async () => {
  place = await interruptedRedis();
  const { connection, undisturbed } = place;
  one = peopleOfSlot(connection, '{test}');
  other = peopleOfSlot(undisturbed, '{test}');
});
afterAll(() => place[Symbol.asyncDispose]());
beforeEach(async () => {
  await place.redis.cli('FLUSHALL');
});

describe('changes between the look at a person and the write', () => {
  const meanwhile = (work: () => Promise<unknown>) => {
    place.connection.interruptions.push({ before: BEFORE_THE_WRITE, work });
  };

  test('somebody else takes the alias: refused, and it stays theirs', async () => {
    const [alice, bob] = [somePerson('alice'), { ...somePerson('bob'), aliases: ['a'] }];
    await other.add(alice);
    meanwhile(() => other.add(bob));
    expect(await one.replace({ ...alice, aliases: ['a', 'b'], version: 1 })).toBe(false);
    expect(place.connection.interruptions).toEqual([]);
    expect(await other.get(alice.id)).toEqual(alice);
    expect(await other.getByAlias('a')).toEqual(bob);
    expect(await other.getByAlias('b')).toBeUndefined();
  });

  test('they are changed: refused, and an alias that they gave up to somebody else stays theirs', async () => {
    const alice = { ...somePerson('alice'), aliases: ['a'] };
    const bob = { ...somePerson('bob'), aliases: ['a'] };
    await other.add(alice);
    meanwhile(async () => {
      await other.replace({ ...alice, aliases: ['b'], version: 1 });
      await other.add(bob);
    });
    expect(await one.replace({ ...alice, aliases: ['c'], version: 1 })).toBe(false);
    expect(await other.getByAlias('a')).toEqual(bob);
    expect(await other.getByAlias('b')).toMatchObject({ id: alice.id });
    expect(await other.getByAlias('c')).toBeUndefined();
  });
});

test('a thousand realms: Redis sends no more octets for a verifier or a password than with one', async () => {
  const rows = Array.from({ length: 1000 }, (_, n) => someVerifier(`realm ${n}`));
  await one.add(somePerson('alice'), rows.slice(0, 1));
  await one.add(somePerson('bobby'), rows.slice(1));
  const sent = async () => {
    const info = await place.redis.cli('INFO', 'stats');
    return Number(/^total_net_output_bytes:(\d+)/m.exec(info)?.[1]);
  };
  const octets = async (ask: () => Promise<unknown>) => {
    await ask();
    const before = await sent();
    const silent = (await sent()) - before;
    const start = await sent();
    expect(await ask()).toBeDefined();
    return (await sent()) - start - silent;
  };
  const questions: readonly ((name: string, n: number) => Promise<unknown>)[] = [
    (name, n) => one.getVerifier('proof one', `realm ${n}`, { name }),
    (_, n) => one.getVerifier('proof one', `realm ${n}`, { handle: rows[n]?.handle ?? '' }),
    (name) => one.getByName(name),
  ];
  for (const ask of questions) {
    const few = await octets(() => ask('alice', 0));
    const many = await octets(() => ask('bobby', 7));
    expect(few).toBeGreaterThan(100);
    // INFO itself differs by the digits of its numbers.
    expect(Math.abs(many - few)).toBeLessThan(50);
  }
});

/** Keys of SCRAM as they were in a record. */
const keys = (salt: string) => ({ salt, iterations: 4096, stored_key: 's', server_key: 'k' });

const emails = ['Alice@Example.com', 'ÄB@x', 'alice@example.com'].map((address) => ({
  address,
  verified: false,
}));
const common = { ...somePerson('alice'), kerberos: ['alice@A'], profile: { emails } };
const bare = somePerson('bob');
const [SHA_1, SHA_256] = [{ 'SHA-1': keys('one') }, { 'SHA-256': keys('two') }];

/** The same two people in each schema, as far as they are in records, aliases and other hashes. */
const FORMER = {
  1: {
    person: {
      ...common,
      verifiers: {
        'a: b': { digest: { MD5: 'ha1', 'SHA-256': 'ha2' }, scram: SHA_1 },
        none: { digest: {}, scram: {} },
        c: { digest: { MD5: 'ha3' }, scram: SHA_256 },
      },
      aliases: ['digest:MD5:u1', 'digest:SHA-256:u2', 'digest:MD5:u3', 'kerberos:alice@A'],
    },
    hashes: {},
    version: 1,
  },
  2: {
    person: {
      ...common,
      scram: { ...SHA_1, ...SHA_256 },
      digest_set: 'of three',
      aliases: ['kerberos:alice@A'],
    },
    hashes: {
      [`digests:${common.id}`]: {
        'MD5 a: b': 'ha1 u1',
        'SHA-256 a: b': 'ha2 u2',
        'MD5 c': 'ha3 u3',
      },
      userhashes: { 'MD5 u1 a: b': common.id, 'SHA-256 u2 a: b': common.id, 'MD5 u3 c': common.id },
    },
    version: 0,
  },
} as const;

test('people whom an older version removed or changed, which knows of no lists, are not in a list that they left', async () => {
  const [ann, ben, cid] = ['ann', 'ben', 'cid'].map((name) => somePerson(name)) as [
    PersonRecord,
    PersonRecord,
    PersonRecord,
  ];
  for (const person of [ann, ben, cid]) expect(await one.add(person)).toBe(true);
  await place.redis.cli('HDEL', '{test}:names', ann.name);
  await place.redis.cli(
    'HSET',
    '{test}:people',
    ben.id,
    JSON.stringify({ ...ben, disabled: true }),
  );
  expect(await one.page({ list: { state: 'active' }, limit: 1 })).toEqual([cid]);
  expect(await place.redis.cli('ZCARD', '{test}:people:lists')).toBe('1');
});

describe.each([1, 2] as const)('people of schema %i', (schema) => {
  const { person: former, hashes, version } = FORMER[schema];
  const hset = async (key: string, fields: Readonly<Record<string, string>>) =>
    place.redis.cli('HSET', `{test}:${key}`, ...Object.entries(fields).flat());
  const written = async (...people: readonly PersonRecord[]) => {
    for (const person of people) {
      await hset('people', { [person.id]: JSON.stringify(person) });
      await hset('names', { [person.name]: person.id });
      if (schema === 2) await place.redis.cli('ZADD', '{test}:names:order', '0', person.name);
    }
    for (const alias of former.aliases) await hset('aliases', { [alias]: former.id });
    for (const [key, fields] of Object.entries(hashes)) await hset(key, fields);
    await place.redis.cli('SET', '{test}:schema', String(schema));
  };
  const person = {
    ...common,
    verifier_set: expect.any(String),
    aliases: ['kerberos:alice@A'],
    search_keys: ['email:alice@example.com', 'email:Äb@x', 'looks:allce'],
    version,
  };
  const verifiers = [
    { kind: 'digest MD5', realm: 'a: b', value: 'ha1', handle: 'u1' },
    { kind: 'digest SHA-256', realm: 'a: b', value: 'ha2', handle: 'u2' },
    { kind: 'digest MD5', realm: 'c', value: 'ha3', handle: 'u3' },
    { kind: 'scram SHA-1', realm: ALL_REALMS, value: 'SCRAM-SHA-1$4096:one$s:k' },
    { kind: 'scram SHA-256', realm: ALL_REALMS, value: 'SCRAM-SHA-256$4096:two$s:k' },
  ];
  const rowsOf = async (id: string) => new Set((await one.getWhole(id))?.verifiers);

  test('each has a row for each verifier, the names are in order, and nothing else is left', async () => {
    await written(former, bare);
    await migrate(place.undisturbed, 'test');
    expect(await place.redis.cli('GET', '{test}:schema')).toBe(String(SCHEMA));
    expect(await everybodyIn({ people: one })).toEqual([
      person,
      { ...bare, verifier_set: expect.any(String), search_keys: ['looks:bob'], version },
    ]);
    expect(await rowsOf(former.id)).toEqual(new Set(verifiers));
    expect(await rowsOf(bare.id)).toEqual(new Set());
    for (const { kind, realm, value, handle } of verifiers) {
      expect(await one.getVerifier(kind, realm, { name: 'alice' })).toEqual({ person, value });
      if (handle === undefined) continue;
      expect(await one.getVerifier(kind, realm, { handle })).toEqual({ person, value });
    }
    expect(await one.getByAlias('kerberos:alice@A')).toEqual(person);
    expect(await one.getByAlias('digest:MD5:u1')).toBeUndefined();
    for (const key of person.search_keys) expect(await one.search(key)).toEqual([person]);
    const active = await one.page({ limit: 9, list: { state: 'active' } });
    expect(active.map(({ name }) => name)).toEqual(['alice', 'bob']);
    const names = [
      'people',
      'people:search',
      'people:lists',
      'names',
      'names:order',
      'aliases',
      'handles',
      'schema',
      'schema:oldest',
    ];
    const keysLeft = (await place.redis.cli('KEYS', '*')).split('\n');
    expect(new Set(keysLeft)).toEqual(
      new Set([...names, `verifiers:${former.id}`].map((name) => `{test}:${name}`)),
    );
    const changed = { ...person, verifier_set: 'none', version: version + 1 };
    expect(await one.replace(changed, [])).toBe(true);
    expect(await one.getVerifier('digest MD5', 'c', { handle: 'u3' })).toBeUndefined();
    expect(await place.redis.cli('EXISTS', '{test}:handles')).toBe('0');
  });

  test('by two servers at once, one of which was stopped halfway: once', async () => {
    await written(former, bare);
    const stop = () => Promise.reject(new Error('stopped'));
    place.connection.interruptions.push({ before: BEFORE_THE_WRITE, work: stop });
    await expect(migrate(place.connection, 'test')).rejects.toThrow('stopped');
    await Promise.all([migrate(place.connection, 'test'), migrate(place.undisturbed, 'test')]);
    expect(await rowsOf(former.id)).toEqual(new Set(verifiers));
    expect(await one.get(former.id)).toEqual({ ...person, version: expect.any(Number) });
    expect(await place.redis.cli('EXISTS', '{test}:schema:from')).toBe('0');
  });

  test('an older version that starts while people are moved sees the new schema, and so refuses', async () => {
    await written(former, bare);
    const seen: string[] = [];
    const look = async () => void seen.push(await place.redis.cli('GET', '{test}:schema'));
    place.connection.interruptions.push({ before: BEFORE_THE_WRITE, work: look });
    await migrate(place.connection, 'test');
    expect(seen).toEqual([String(SCHEMA)]);
  });

  test('a newer version goes on with it: people that it has not moved yet stay known', async () => {
    await written(former, bare);
    const newer = () => place.redis.cli('SET', '{test}:schema', `${SCHEMA + 1}`);
    place.connection.interruptions.push({ before: BEFORE_THE_WRITE, work: newer });
    await migrate(place.connection, 'test');
    expect(await place.redis.cli('MGET', '{test}:schema', '{test}:schema:from')).toBe(
      `${SCHEMA + 1}\n${schema}`,
    );
  });

  test('changed while it is moved: the change stays', async () => {
    await written(former);
    place.connection.interruptions.push({
      before: BEFORE_THE_WRITE,
      work: async () => {
        const changed = { ...former, disabled: true, version: 1 };
        await place.redis.cli('HSET', '{test}:people', former.id, JSON.stringify(changed));
      },
    });
    await migrate(place.connection, 'test');
    expect(place.connection.interruptions).toEqual([]);
    expect(await one.getByName('alice')).toMatchObject({
      ...person,
      disabled: true,
      version: version + 1,
    });
    expect(await rowsOf(former.id)).toEqual(new Set(verifiers));
  });
});

/** ARGV: the key and the id of a member of the search keys. */
const ADD_MEMBER = "return redis.call('ZADD', KEYS[1], 0, ARGV[1] .. '\\0' .. ARGV[2])";

describe('people of schema 6', () => {
  const verified = (...addresses: string[]) => ({
    profile: { emails: addresses.map((address) => ({ address, verified: true })) },
  });
  const eldest = { ...somePerson('ida'), ...verified('Shared@x.example'), created_at: 1 };
  const second = {
    ...somePerson('zoe'),
    ...verified('own@x.example', 'shared@X.example'),
    kerberos: ['zoe@A'],
    aliases: ['kerberos:zoe@A'],
    created_at: 2,
  };
  const third = { ...somePerson('abe'), ...verified('SHARED@x.example'), created_at: 3 };
  const people = [third, eldest, second].map((person) =>
    Object.assign({ search_keys: ['email:shared@x.example', `looks:${person.name}`] }, person),
  );
  const written = async () => {
    for (const person of people) {
      await place.redis.cli('HSET', '{test}:people', person.id, JSON.stringify(person));
      await place.redis.cli('HSET', '{test}:names', person.name, person.id);
      await place.redis.cli('ZADD', '{test}:names:order', '0', person.name);
      for (const key of person.search_keys) {
        await place.redis.cli('EVAL', ADD_MEMBER, '1', '{test}:people:search', key, person.id);
      }
    }
    await place.redis.cli('HSET', '{test}:aliases', 'kerberos:zoe@A', second.id);
    await place.redis.cli('SET', '{test}:schema', '6');
  };
  const check = async () => {
    const now = await everybodyIn({ people: one });
    const shown = now.map(({ name, aliases, profile }) => [
      name,
      aliases ?? [],
      profile?.emails?.map(({ verified: is }) => is),
    ]);
    expect(shown).toEqual([
      ['abe', [], [false]],
      ['ida', ['address:shared@x.example'], [true]],
      ['zoe', ['kerberos:zoe@A', 'address:own@x.example'], [true, false]],
    ]);
    expect(await one.getByAlias('address:shared@x.example')).toMatchObject({ name: 'ida' });
    expect(await one.getByAlias('address:own@x.example')).toMatchObject({ name: 'zoe' });
    expect(await one.getByAlias('kerberos:zoe@A')).toMatchObject({ name: 'zoe' });
    expect(await one.search('looks:lda')).toMatchObject([{ name: 'ida' }]);
    expect(await one.search('looks:ida')).toEqual([]);
    expect(await one.search('email:shared@x.example')).toHaveLength(3);
  };

  test('a verified address stays with the eldest account alone', async () => {
    await written();
    await migrate(place.undisturbed, 'test');
    await check();
    expect(await place.redis.cli('GET', '{test}:schema')).toBe(String(SCHEMA));
  });

  test('by two servers at once, one of which was stopped halfway: the same', async () => {
    await written();
    const stop = () => Promise.reject(new Error('stopped'));
    place.connection.interruptions.push({ before: BEFORE_THE_WRITE, work: stop });
    await expect(migrate(place.connection, 'test')).rejects.toThrow('stopped');
    await Promise.all([migrate(place.connection, 'test'), migrate(place.undisturbed, 'test')]);
    await check();
  });
});

describe('people of schema 9', () => {
  const verified = (...addresses: string[]) => ({
    profile: { emails: addresses.map((address) => ({ address, verified: true })) },
  });
  const keyed = (person: PersonRecord, aliases: string[], ...search_keys: string[]) => ({
    ...person,
    aliases,
    search_keys,
  });
  const ascii = (local: string) => `${local}@xn--bcher-kva.example`;
  // Each has what the next one, which is younger, has verified in another form.
  const [eldest, second, third] = [
    keyed(
      { ...somePerson('old'), ...verified('a@bücher.example'), created_at: 1 },
      ['address:a@bücher.example'],
      'email:a@bücher.example',
      'looks:old',
    ),
    keyed(
      { ...somePerson('mid5'), ...verified(ascii('a'), 'b@bücher.example'), created_at: 2 },
      [`address:${ascii('a')}`, 'address:b@bücher.example'],
      `email:${ascii('a')}`,
      'email:b@bücher.example',
      'looks:mld5',
    ),
    keyed(
      { ...somePerson('new'), ...verified(ascii('b')), created_at: 3, kerberos: ['new@A'] },
      ['kerberos:new@A', `address:${ascii('b')}`],
      `email:${ascii('b')}`,
      'looks:new',
    ),
  ];
  const written = async (...people: readonly (typeof eldest)[]) => {
    for (const person of people) {
      await place.redis.cli('HSET', '{test}:people', person.id, JSON.stringify(person));
      await place.redis.cli('HSET', '{test}:names', person.name, person.id);
      await place.redis.cli('ZADD', '{test}:names:order', '0', person.name);
      for (const key of person.search_keys) {
        await place.redis.cli('EVAL', ADD_MEMBER, '1', '{test}:people:search', key, person.id);
      }
      for (const alias of person.aliases) {
        await place.redis.cli('HSET', '{test}:aliases', alias, person.id);
      }
    }
    await place.redis.cli('SET', '{test}:schema', '9');
  };
  const check = async () => {
    expect(await everybodyIn({ people: one })).toMatchObject([
      {
        name: 'mid5',
        profile: { emails: [{ verified: false }, { address: 'b@bücher.example', verified: true }] },
        aliases: [`address:${ascii('b')}`],
        search_keys: [`email:${ascii('a')}`, `email:${ascii('b')}`, 'looks:mld5'],
      },
      { name: 'new', profile: { emails: [{ verified: false }] }, aliases: ['kerberos:new@A'] },
      {
        name: 'old',
        profile: { emails: [{ verified: true }] },
        aliases: [`address:${ascii('a')}`],
        search_keys: [`email:${ascii('a')}`, 'looks:old'],
      },
    ]);
    const owner = async (alias: string) => (await one.getByAlias(alias))?.name;
    expect([
      await owner(`address:${ascii('a')}`),
      await owner(`address:${ascii('b')}`),
      await owner('address:a@bücher.example'),
      await owner('kerberos:new@A'),
    ]).toEqual(['old', 'mid5', undefined, 'new']);
    const found = await one.search(`email:${ascii('a')}`);
    expect(found.map(({ name }) => name).toSorted()).toEqual(['mid5', 'old']);
    expect(await one.search('looks:mld5')).toMatchObject([{ name: 'mid5' }]);
  };

  test.each([
    ['the eldest first', [eldest, second, third]],
    ['the youngest first', [third, second, eldest]],
  ])('a mailbox stays with the eldest account alone: %s', async (_, people) => {
    await written(...people);
    await migrate(place.undisturbed, 'test');
    await check();
    expect(await place.redis.cli('GET', '{test}:schema')).toBe(String(SCHEMA));
  });

  test('by two servers at once, one of which was stopped halfway: the same', async () => {
    await written(eldest, second, third);
    const stop = () => Promise.reject(new Error('stopped'));
    place.connection.interruptions.push({ before: BEFORE_THE_WRITE, work: stop });
    await expect(migrate(place.connection, 'test')).rejects.toThrow('stopped');
    await Promise.all([migrate(place.connection, 'test'), migrate(place.undisturbed, 'test')]);
    await check();
  });
});
