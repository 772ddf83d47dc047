import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { People } from '#shared/stores/people/people.ts';
import { someVerifier, somePerson } from '../../contract/samples.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';
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
