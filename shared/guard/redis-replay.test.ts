import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis as IoRedis } from 'ioredis';
import { createClient } from 'redis';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type Redis, startRedis } from '../../e2e/parts/redis.ts';
import { until } from '../../e2e/parts/process.ts';
import type { RedisClient } from './options.ts';
import { redisReplay } from './redis-replay.ts';

const parts = new AsyncDisposableStack();
let redis: Redis;

beforeAll(async () => {
  redis = parts.use(await startRedis());
});
afterAll(() => parts.disposeAsync());

const ignore = () => {};

/** A connected client; its errors appear as errors of its commands. */
const CLIENTS: Readonly<Record<string, () => Promise<RedisClient>>> = {
  'node-redis': async () => {
    const client = createClient({ url: redis.url });
    client.on('error', ignore);
    await client.connect();
    parts.defer(() => client.destroy());
    return client;
  },
  ioredis: async () => {
    const client = new IoRedis(redis.url);
    client.on('error', ignore);
    parts.defer(() => client.disconnect());
    return client;
  },
};

describe.each(Object.entries(CLIENTS))(
  'RFC 9449 section 11.1: replay in Redis, %s',
  (name, open) => {
    test('one of ten simultaneous uses in several processes is the first', async () => {
      const replays = await Promise.all(
        Array.from({ length: 5 }, async () => redisReplay(await open())),
      );
      for (const key of ['a', 'b']) {
        const all = await Promise.all(
          [...replays, ...replays].map((replay) => replay.unique('dpop', name + key, 60)),
        );
        expect(all.filter(Boolean)).toHaveLength(1);
      }
    });

    test('a stored key expires, and does not reveal what was used', async () => {
      const replay = redisReplay(await open());
      expect(await replay.unique('once', `${name} secret`, 100)).toBe(true);
      const [key = '', ...others] = (await redis.cli('KEYS', '*:once:*')).split('\n');
      expect(others).toEqual([]);
      expect(key).toMatch(/^countersign:replay:once:[\w-]{43}$/);
      const left = Number(await redis.cli('PTTL', key));
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(100_000);
      await redis.cli('DEL', key);
      expect(await replay.unique('once', `${name} secret`, 100)).toBe(true);
      await redis.cli('DEL', key);
    });

    test('no use is the first while Redis hangs, refuses or is away', async () => {
      const replay = redisReplay(await open(), 200);
      expect(await replay.unique('dpop', `${name} before`, 60)).toBe(true);
      redis.hang();
      await expect(replay.unique('dpop', `${name} hung`, 60)).rejects.toThrow(StoreUnavailable);
      redis.wake();
      await redis.cli('CONFIG', 'SET', 'maxmemory', '1');
      await expect(redisReplay(await open()).unique('dpop', `${name} full`, 60)).rejects.toThrow(
        StoreUnavailable,
      );
      await redis.cli('CONFIG', 'SET', 'maxmemory', '0');
      await redis.kill();
      await expect(replay.unique('dpop', `${name} away`, 60)).rejects.toThrow(StoreUnavailable);
      await redis.start();
      // A command that was given up is sent when Redis is back, so each try needs a key of its own.
      let tries = 0;
      await until(() => replay.unique('dpop', `${name} back ${(tries += 1)}`, 60));
    });
  },
);
