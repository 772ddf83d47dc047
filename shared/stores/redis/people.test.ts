import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { silentLog } from '#shared/log.ts';
import type { People } from '#shared/stores/people.ts';
import { startRedis } from '../../../e2e/parts/redis.ts';
import type { Redis } from '../../../e2e/parts/redis.ts';
import { somePerson } from '../contract/races.ts';
import { Interrupted } from './interrupted.fixture.ts';
import { redisPeople } from './people.ts';
import { topologyOf } from './topology.ts';
import { redisConfig } from './under-test.ts';

const BEFORE_THE_WRITE = /^SCRIPT \{test\}:people/;

describe('what happens between the look at a person and the change', () => {
  let redis: Redis;
  let connection: Interrupted;
  let undisturbed: Interrupted;
  let one: People;
  let other: People;
  beforeAll(async () => {
    redis = await startRedis();
    const topology = topologyOf(redisConfig({ urls: [redis.url] }));
    const open = () => new Interrupted(topology, '{test}:revocations', 0, silentLog);
    [connection, undisturbed] = [open(), open()];
    one = redisPeople(connection, 'test');
    other = redisPeople(undisturbed, 'test');
  });
  afterAll(async () => {
    connection[Symbol.dispose]();
    undisturbed[Symbol.dispose]();
    await redis[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await redis.cli('FLUSHALL');
  });

  const meanwhile = (work: () => Promise<unknown>) => {
    connection.interruptions.push({ before: BEFORE_THE_WRITE, work });
  };

  test('somebody else takes the alias: refused, and it stays theirs', async () => {
    const [alice, bob] = [somePerson('alice'), { ...somePerson('bob'), aliases: ['a'] }];
    await other.add(alice);
    meanwhile(() => other.add(bob));
    expect(await one.replace({ ...alice, aliases: ['a', 'b'], version: 1 })).toBe(false);
    expect(connection.interruptions).toEqual([]);
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
