import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { silentLog } from '#shared/log.ts';
import type { ApiKeys } from '#shared/stores/api-keys.ts';
import { startRedis } from '../../../e2e/parts/redis.ts';
import type { Redis } from '../../../e2e/parts/redis.ts';
import { someApiKey } from '../contract/races.ts';
import { redisApiKeys } from './api-keys.ts';
import { Interrupted } from './interrupted.fixture.ts';
import { topologyOf } from './topology.ts';
import { redisConfig } from './under-test.ts';

const BEFORE_THE_WRITE = /^SCRIPT \{test\}:api-keys/;

describe('what happens between the look at an API key and the change', () => {
  let redis: Redis;
  let connection: Interrupted;
  let undisturbed: Interrupted;
  let one: ApiKeys;
  let other: ApiKeys;
  beforeAll(async () => {
    redis = await startRedis();
    const topology = topologyOf(redisConfig({ urls: [redis.url] }));
    const open = () => new Interrupted(topology, '{test}:revocations', 0, silentLog);
    [connection, undisturbed] = [open(), open()];
    one = redisApiKeys(connection, 'test');
    other = redisApiKeys(undisturbed, 'test');
  });
  afterAll(async () => {
    connection[Symbol.dispose]();
    undisturbed[Symbol.dispose]();
    await redis[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await redis.cli('FLUSHALL');
    await other.add(someApiKey('x'));
  });

  const meanwhile = (work: () => Promise<unknown>) => {
    connection.interruptions.push({ before: BEFORE_THE_WRITE, work });
  };

  test('it is removed: a use does not bring it back', async () => {
    meanwhile(() => other.remove('x'));
    await one.touch('x', 7);
    expect(connection.interruptions).toEqual([]);
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
