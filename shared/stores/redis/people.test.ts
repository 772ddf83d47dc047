import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { People, PersonRecord } from '#shared/stores/people.ts';
import { everybodyIn, someDigest, somePerson } from '../contract/samples.ts';
import { interruptedRedis } from './interrupted.fixture.ts';
import { migrate } from './migrate.ts';
import { redisPeople } from './people.ts';

const BEFORE_THE_WRITE = /^SCRIPT \{test\}:people/;

let place: Awaited<ReturnType<typeof interruptedRedis>>;
let one: People;
let other: People;
beforeAll(async () => {
  place = await interruptedRedis();
  const { connection, undisturbed } = place;
  one = redisPeople(connection, 'test');
  other = redisPeople(undisturbed, 'test');
});
afterAll(() => place[Symbol.asyncDispose]());
beforeEach(async () => {
  await place.redis.cli('FLUSHALL');
});

describe('what happens between the look at a person and the change', () => {
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

test('a thousand realms: Redis sends no more octets for a request of Digest, SCRAM or Basic than with one', async () => {
  const rows = Array.from({ length: 1000 }, (_, n) => someDigest(`realm ${n}`));
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
    (name, n) => one.getDigest(`realm ${n}`, 'SHA-256', { name }),
    (_, n) => one.getDigest(`realm ${n}`, 'SHA-256', { userhash: rows[n]?.userhash ?? '' }),
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

describe('people of schema 1, whose records held everything', () => {
  const keys = (salt: string) => ({ salt, iterations: 4096, stored_key: 's', server_key: 'k' });
  const former = {
    ...somePerson('alice'),
    verifiers: {
      'a: b': { digest: { MD5: 'ha1', 'SHA-256': 'ha2' }, scram: { 'SHA-1': keys('one') } },
      none: { digest: {}, scram: {} },
      c: { digest: { MD5: 'ha3' }, scram: { 'SHA-256': keys('two') } },
    },
    kerberos: ['alice@A'],
    aliases: ['digest:MD5:u1', 'digest:SHA-256:u2', 'digest:MD5:u3', 'kerberos:alice@A'],
  };
  const bare = somePerson('bob');
  const written = async (...people: readonly PersonRecord[]) => {
    const { redis } = place;
    for (const person of people) {
      await redis.cli('HSET', '{test}:people', person.id, JSON.stringify(person));
      await redis.cli('HSET', '{test}:names', person.name, person.id);
    }
    for (const alias of former.aliases) await redis.cli('HSET', '{test}:aliases', alias, former.id);
    await redis.cli('SET', '{test}:schema', '1');
  };
  const { verifiers: _, ...rest } = former;
  const person = {
    ...rest,
    scram: { 'SHA-1': keys('one'), 'SHA-256': keys('two') },
    digest_set: expect.any(String),
    aliases: ['kerberos:alice@A'],
    version: 1,
  };

  test('each has a row for each verifier, the names are in order, and nobody is another', async () => {
    await written(former, bare);
    await migrate(place.undisturbed, 'test');
    expect(await place.redis.cli('GET', '{test}:schema')).toBe('2');
    expect(await everybodyIn({ people: one })).toEqual([person, { ...bare, version: 1 }]);
    for (const [realm, hash, userhash, ha1] of [
      ['a: b', 'MD5', 'u1', 'ha1'],
      ['a: b', 'SHA-256', 'u2', 'ha2'],
      ['c', 'MD5', 'u3', 'ha3'],
    ] as const) {
      expect(await one.getDigest(realm, hash, { userhash })).toEqual({ person, ha1 });
      expect(await one.getDigest(realm, hash, { name: 'alice' })).toEqual({ person, ha1 });
    }
    expect(await one.getByAlias('kerberos:alice@A')).toEqual(person);
    expect(await one.getByAlias('digest:MD5:u1')).toBeUndefined();
    expect((await one.getWhole(former.id))?.digests).toHaveLength(3);
  });

  test('by two servers at once, one of which was stopped halfway: once', async () => {
    await written(former, bare);
    await Promise.all([migrate(place.connection, 'test'), migrate(place.undisturbed, 'test')]);
    await place.redis.cli('SET', '{test}:schema', '1');
    await migrate(place.undisturbed, 'test');
    const whole = await one.getWhole(former.id);
    expect(whole?.digests).toHaveLength(3);
    expect(whole?.person).toMatchObject({ scram: person.scram, aliases: person.aliases });
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
    expect(await one.getByName('alice')).toMatchObject({ ...person, disabled: true, version: 2 });
  });
});
