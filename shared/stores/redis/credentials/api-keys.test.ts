import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ApiKeys } from '#shared/stores/credentials/api-keys.ts';
import { someApiKey } from '../../contract/samples.ts';
import { redisApiKeys } from './api-keys.ts';
import { manySlots } from '../connection/slots.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';

const BEFORE_THE_WRITE = /^SCRIPT \{test:.\}:api-keys/;

let place: Awaited<ReturnType<typeof interruptedRedis>>;
let one: ApiKeys;
let other: ApiKeys;
beforeAll(async () => {
  place = await interruptedRedis();
  const { connection, undisturbed } = place;
  one = redisApiKeys(connection, manySlots('test'));
  other = redisApiKeys(undisturbed, manySlots('test'));
});
afterAll(() => place[Symbol.asyncDispose]());
beforeEach(async () => {
  await place.redis.cli('FLUSHALL');
  await other.add(someApiKey('x'));
});

describe('changes between the look at an API key and its write', () => {
  const meanwhile = (work: () => Promise<unknown>) => {
    place.connection.interruptions.push({ before: BEFORE_THE_WRITE, work });
  };

  test('it is removed: a use does not bring it back', async () => {
    meanwhile(() => other.remove('x'));
    await one.touch('x', 7);
    expect(place.connection.interruptions).toEqual([]);
    expect(await other.get('x')).toBeUndefined();
  });

  test('it is removed: its end says that there is none', async () => {
    meanwhile(() => other.remove('x'));
    expect(await one.expire('x', 7)).toBe(false);
    expect(await other.get('x')).toBeUndefined();
  });

  test('it is ended: a use keeps the end', async () => {
    meanwhile(() => other.expire('x', 5));
    await one.touch('x', 7);
    expect(await other.get('x')).toEqual({ ...someApiKey('x'), expires_at: 5, used_at: 7 });
  });

  test('it is ended earlier, or used: that counts', async () => {
    meanwhile(() => other.expire('x', 5));
    meanwhile(() => other.touch('x', 9));
    expect(await one.expire('x', 7)).toBe(true);
    expect(await other.get('x')).toEqual({ ...someApiKey('x'), expires_at: 5 });
    await one.touch('x', 8);
    expect(await other.get('x')).toMatchObject({ expires_at: 5, used_at: 9 });
  });
});

test('a thousand are listed once each, in answers that are all short', async () => {
  const ids = Array.from({ length: 1000 }, (_, n) => `key ${n}`);
  await Promise.all(ids.map((id) => other.add(someApiKey(id))));
  await place.redis.cli('CONFIG', 'RESETSTAT');
  const listed = (await one.list()).map(({ id }) => id);
  expect(listed.toSorted()).toEqual(['x', ...ids].toSorted());
  const stats = await place.redis.cli('INFO', 'commandstats');
  const answers = Number(/^cmdstat_hscan:calls=(\d+)/m.exec(stats)?.[1]);
  expect(answers).toBeGreaterThan(1);
  expect(stats).not.toContain('cmdstat_hvals');
});
