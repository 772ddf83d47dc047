import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import { somePublicKey } from '../../contract/samples.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';
import { redisPublicKeys } from './public-keys.ts';

const BEFORE_THE_WRITE = /^SCRIPT \{test\}:public-keys/;

let place: Awaited<ReturnType<typeof interruptedRedis>>;
let one: PublicKeys;
let other: PublicKeys;
beforeAll(async () => {
  place = await interruptedRedis();
  const { connection, undisturbed } = place;
  one = redisPublicKeys(connection, 'test');
  other = redisPublicKeys(undisturbed, 'test');
});
afterAll(() => place[Symbol.asyncDispose]());

const key = somePublicKey('x');
const another = { ...key, owner: { kind: 'person', id: 'another' }, created_at: 5 } as const;

beforeEach(async () => {
  await place.redis.cli('FLUSHALL');
  await other.add(key, 1);
});

describe('changes between the look at a public key and its write', () => {
  const meanwhile = (work: () => Promise<unknown>) => {
    place.connection.interruptions.push({ before: BEFORE_THE_WRITE, work });
  };

  test('it is removed: neither a use nor a signing out brings it back', async () => {
    meanwhile(() => other.remove('x'));
    await one.touch('x', 7);
    expect(await other.get('x')).toBeUndefined();
    await other.add(key, 1);
    meanwhile(() => other.remove('x'));
    expect(await one.signOut('x', 7)).toBe(false);
    expect(await other.get('x')).toBeUndefined();
    expect(place.connection.interruptions).toEqual([]);
  });

  test('it is used or signed out: the other change keeps that, and a removal removes it', async () => {
    meanwhile(() => other.signOut('x', 5));
    await one.touch('x', 7);
    expect(await other.get('x')).toEqual({ ...key, signed_out_at: 5, used_at: 7 });
    meanwhile(() => other.touch('x', 100_000));
    expect(await one.signOut('x', 6)).toBe(true);
    expect(await other.get('x')).toEqual({ ...key, signed_out_at: 6, used_at: 100_000 });
    meanwhile(() => other.touch('x', 200_000));
    expect(await one.remove('x')).toBe(true);
    expect(await other.of(key.owner)).toEqual([]);
    expect(await place.redis.cli('KEYS', '*')).toBe('');
  });

  test('it is removed and given to another: a removal takes it from that one, with its place', async () => {
    meanwhile(async () => {
      await other.remove('x');
      await other.add(another, 1);
    });
    expect(await one.remove('x')).toBe(true);
    expect(await place.redis.cli('KEYS', '*')).toBe('');
  });
});

test('reads the keys of one owner without a look at others', async () => {
  const ids = Array.from({ length: 1000 }, (_, n) => `key-${n}`);
  await Promise.all(ids.map((id) => other.add(somePublicKey(id), 1)));
  await place.redis.cli('CONFIG', 'RESETSTAT');
  expect(await one.of(key.owner)).toEqual([key]);
  const stats = await place.redis.cli('INFO', 'commandstats');
  expect(stats).not.toMatch(/cmdstat_(hscan|hgetall|hvals)/);
  expect(stats).toMatch(/cmdstat_zrange:calls=1,/);
});
