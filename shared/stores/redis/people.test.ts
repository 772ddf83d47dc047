import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { People } from '#shared/stores/people.ts';
import { somePerson } from '../contract/samples.ts';
import { interruptedRedis } from './interrupted.fixture.ts';
import { redisPeople } from './people.ts';

const BEFORE_THE_WRITE = /^SCRIPT \{test\}:people/;

describe('what happens between the look at a person and the change', () => {
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
