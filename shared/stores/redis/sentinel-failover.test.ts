import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomId, systemRandom } from '#shared/base/random.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { until } from '../../../e2e/parts/process.ts';
import { startSentinels } from '../../../e2e/parts/redis-sentinel.ts';
import type { SentinelSet } from '../../../e2e/parts/redis-sentinel.ts';
import { startRedis } from '../../../e2e/parts/redis.ts';
import { eventually } from '../contract/eventually.ts';
import { listening } from '../contract/cache/invalidations.ts';
import { FAR, someInvalidation } from '../contract/samples.ts';
import { openTestRedis, redisConfig, someClaims } from './under-test.ts';

describe('failover', () => {
  let set: SentinelSet;
  let stores: Stores;
  let feed: RevocationFeed;
  beforeAll(async () => {
    set = await startSentinels({ password: 'swordfish' });
    const config = redisConfig({ mode: 'sentinel', urls: set.urls, replicas: 1 });
    stores = await openTestRedis(config);
    await stores.revocations.epoch(true);
    feed = await stores.revocations.feed();
  });
  afterAll(async () => {
    await feed[Symbol.asyncDispose]();
    await stores[Symbol.asyncDispose]();
    await set[Symbol.asyncDispose]();
  });

  /** Adds one; whether it was heard, where it was acknowledged and somebody can say. */
  const invalidate = async (listener: Awaited<ReturnType<typeof listening>>) => {
    const value = randomId(systemRandom);
    await stores.invalidations.add([someInvalidation(value)]);
    const heard = await listener.hear();
    return heard.some((each) => each === 'lost' || each.value === value);
  };

  /** Revokes and spends one token after another until it is stopped. */
  const revokeAllTheTime = (
    template: RevocableClaims,
    listener: Awaited<ReturnType<typeof listening>>,
  ) => {
    const acknowledged: RevocableClaims[] = [];
    const heard: boolean[] = [];
    const spent: string[] = [];
    const refused: unknown[] = [];
    const end = new AbortController();
    const running = (async () => {
      while (!end.signal.aborted) {
        const token = { ...template, jti: randomId(systemRandom) };
        await stores.revocations.revoke('token', token.jti, FAR).then(
          () => acknowledged.push(token),
          (error: unknown) => refused.push(error),
        );
        const spending = stores.spentTokens.spend(Buffer.from(token.jti), FAR);
        await spending.then(
          () => spent.push(token.jti),
          (error: unknown) => refused.push(error),
        );
        await invalidate(listener).then(
          (was) => heard.push(was),
          (error: unknown) => refused.push(error),
        );
        await sleep(5);
      }
    })();
    return { acknowledged, heard, spent, refused, stop: () => (end.abort(), running) };
  };

  test.each(['killed', 'hung'] as const)(
    'a master that is %s: writes fail closed, then work again; the feed follows; what was acknowledged is refused',
    async (fault) => {
      // The failover before this one may not be over.
      const template = await eventually(() => someClaims(stores));
      const before = await set.master();
      await using listener = await listening(stores);
      const revoking = revokeAllTheTime(template, listener);
      const { acknowledged, heard, spent, refused } = revoking;
      await until(() => acknowledged.length >= 20);
      if (fault === 'killed') await before.kill();
      else before.hang();
      await eventually(() => expect(() => feed.current()).toThrow(StoreUnavailable));
      await until(async () => (await set.master()) !== before);
      const soFar = acknowledged.length;
      await until(() => acknowledged.length >= soFar + 20);
      await revoking.stop();
      expect(refused.length).toBeGreaterThan(0);
      for (const error of refused) expect(error).toBeInstanceOf(StoreUnavailable);

      await eventually(() => expect(feed.current().revokedBy(template)).toBeUndefined());
      expect(feed.status().epoch).toBe(template.epoch);
      await using late = await stores.revocations.feed();
      await eventually(() => late.current());
      for (const token of acknowledged) {
        expect(feed.current().revokedBy(token)).toBe('token');
        expect(late.current().revokedBy(token)).toBe('token');
      }

      expect(heard.length).toBeGreaterThanOrEqual(20);
      expect(heard).not.toContain(false);
      expect(spent.length).toBeGreaterThanOrEqual(20);
      for (const token of spent) {
        expect(await stores.spentTokens.spend(Buffer.from(token), FAR)).toBe(false);
      }

      // The old master comes back and finds that it is a replica now.
      if (fault === 'killed') await before.start();
      else before.wake();
      await until(async () => (await before.cli('ROLE')).startsWith('slave'));
      const last = { ...template, jti: randomId(systemRandom) };
      await until(async () => {
        await stores.revocations.revoke('token', last.jti, FAR);
        return true;
      });
      await eventually(() => expect(feed.current().revokedBy(last)).toBe('token'));
    },
  );

  test('a connection to each sentinel is kept, however long and for how many', async () => {
    await eventually(() => stores.ping());
    await using others = await openTestRedis(
      redisConfig({ mode: 'sentinel', urls: set.urls, replicas: 1 }),
    );
    await others.ping();
    const before = await set.accepted();
    for (let second = 0; second < 3; second += 1) {
      await sleep(1000);
      await stores.ping();
      await others.ping();
    }
    // No server has opened a new connection; the one is for this question.
    expect((await set.accepted()) - before).toBeLessThanOrEqual(1);
  });

  test('a server that hears nothing from the sentinels takes no server for the master', async () => {
    await eventually(() => stores.ping());
    feed.current();
    set.hang();
    try {
      await eventually(async () => {
        await expect(stores.clients.list()).rejects.toBeInstanceOf(StoreUnavailable);
        expect(() => feed.current()).toThrow(StoreUnavailable);
      });
      await expect(stores.ping()).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(feed.latest()).rejects.toBeInstanceOf(StoreUnavailable);
    } finally {
      set.wake();
    }
    await eventually(() => stores.ping());
    await eventually(() => feed.current());
  });

  test('a master that answers on, but that the sentinels no longer name, is left', async () => {
    await using other = await startRedis({ password: 'swordfish', appendonly: true });
    const config = redisConfig({ urls: [other.url] });
    await using elsewhere = await openTestRedis(config);
    const token = await someClaims(elsewhere);
    expect(feed.status().epoch).not.toBe(token.epoch);
    await set.name(other);
    await eventually(() => expect(feed.current().revokedBy(token)).toBeUndefined());
    await elsewhere.revocations.revoke('token', token.jti, FAR);
    await eventually(() => expect(feed.current().revokedBy(token)).toBe('token'));
    await eventually(async () => expect(await stores.revocations.epoch(false)).toBe(token.epoch));
  });
});
