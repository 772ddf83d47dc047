import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { until } from '../../../e2e/parts/process.ts';
import { startCluster } from '../../../e2e/parts/redis-cluster.ts';
import { type SentinelSet, startSentinels } from '../../../e2e/parts/redis-sentinel.ts';
import { eventually } from '../contract/eventually.ts';
import { listening } from '../contract/cache/invalidations.ts';
import { FAR, fresh, someInvalidation } from '../contract/samples.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { redisConfig, someClaims } from '../redis/under-test.ts';
import type { RevocationFeed } from '../revocation/revocations.ts';
import type { RedisSettings } from '../settings.ts';
import type { Stores } from '../stores.ts';
import { openPostgres } from './open.ts';

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

const open = (schema: string, redis: RedisSettings): Promise<Stores> =>
  openPostgres(
    { kind: 'postgres', urls: [postgres.url], schema, connections: 10, deadline: 5, redis },
    { clock: systemClock, random: systemRandom, log: silentLog, skew: 5 },
  );

describe('a failover by Sentinel', () => {
  let set: SentinelSet;
  let settings: RedisSettings;
  let stores: Stores;
  let feed: RevocationFeed;
  beforeAll(async () => {
    set = await startSentinels({ password: 'swordfish' });
    settings = redisConfig({ mode: 'sentinel', urls: set.urls, replicas: 1 });
    stores = await open('sentinel', settings);
    await stores.revocations.epoch(true);
    feed = await stores.revocations.feed();
  });
  afterAll(async () => {
    await feed[Symbol.asyncDispose]();
    await stores[Symbol.asyncDispose]();
    await set[Symbol.asyncDispose]();
  });

  /**
   * Adds an invalidation. Resolves to whether the listener heard of it, or of a loss. Rejects if the store does not
   * acknowledge it.
   */
  const invalidate = async (listener: Awaited<ReturnType<typeof listening>>) => {
    const value = randomId(systemRandom);
    await stores.invalidations.add([someInvalidation(value)]);
    const heard = await listener.hear();
    return heard.some((each) => each === 'lost' || each.value === value);
  };

  /** Revokes one token after another until it is stopped, and asks another process for a verdict after each. */
  const revokeAllTheTime = (
    template: RevocableClaims,
    asked: RevocationFeed,
    listener: Awaited<ReturnType<typeof listening>>,
  ) => {
    const acknowledged: RevocableClaims[] = [];
    const verdicts: unknown[] = [];
    const heard: boolean[] = [];
    const refused: unknown[] = [];
    const end = new AbortController();
    const running = (async () => {
      while (!end.signal.aborted) {
        const token = { ...template, jti: randomId(systemRandom) };
        try {
          await stores.revocations.revoke('token', token.jti, FAR);
          acknowledged.push(token);
          verdicts.push((await asked.latest()).revokedBy(token));
          heard.push(await invalidate(listener));
        } catch (error) {
          refused.push(error);
        }
        await sleep(5);
      }
    })();
    return { acknowledged, verdicts, heard, refused, stop: () => (end.abort(), running) };
  };

  test.each(['killed', 'hung'] as const)(
    'if the master is %s, each verdict of another process knows all acknowledged revocations',
    async (fault) => {
      // The failover before this one may not be over.
      const template = await eventually(() => someClaims(stores));
      const before = await set.master();
      await using other = await eventually(() => open('sentinel', settings));
      await using asked = await other.revocations.feed();
      await using listener = await listening(stores);
      const revoking = revokeAllTheTime(template, asked, listener);
      const { acknowledged, verdicts, heard, refused } = revoking;
      await until(() => acknowledged.length >= 20);
      if (fault === 'killed') await before.kill();
      else before.hang();
      await until(async () => (await set.master()) !== before);
      const soFar = acknowledged.length;
      await until(() => acknowledged.length >= soFar + 20);
      await revoking.stop();
      expect(refused.length).toBeGreaterThan(0);
      for (const error of refused) expect(error).toBeInstanceOf(StoreUnavailable);
      expect(new Set(verdicts)).toEqual(new Set(['token']));
      expect(heard).not.toContain(false);

      await using late = await stores.revocations.feed();
      const [view, newest] = await Promise.all([
        eventually(() => feed.latest()),
        eventually(() => late.latest()),
      ]);
      for (const token of acknowledged) {
        expect(view.revokedBy(token)).toBe('token');
        expect(newest.revokedBy(token)).toBe('token');
      }

      // The old master comes back and finds that it is a replica now.
      if (fault === 'killed') await before.start();
      else before.wake();
      await until(async () => (await before.cli('ROLE')).startsWith('slave'));
      const last = { ...template, jti: randomId(systemRandom) };
      await eventually(() => stores.revocations.revoke('token', last.jti, FAR));
      await eventually(async () => expect((await feed.latest()).revokedBy(last)).toBe('token'));
    },
  );

  test('a process keeps one connection to each sentinel, for any time and any number of failovers', async () => {
    await eventually(() => stores.ping());
    await using others = await open('sentinel', settings);
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

  test('a process that gets no answer from the sentinels trusts no server as the master', async () => {
    await eventually(() => stores.ping());
    feed.current();
    set.hang();
    try {
      await eventually(async () => {
        await expect(stores.sessions.get('x')).rejects.toBeInstanceOf(StoreUnavailable);
        await expect(feed.latest()).rejects.toBeInstanceOf(StoreUnavailable);
      });
      await eventually(() => expect(() => feed.current()).toThrow(StoreUnavailable));
      await expect(stores.ping()).rejects.toBeInstanceOf(StoreUnavailable);
    } finally {
      set.wake();
    }
    await eventually(() => stores.ping());
    await eventually(() => feed.current());
  });
});

test('no revoked token is accepted while the slot of the feed moves to another node of a Cluster and back', async () => {
  await using cluster = await startCluster();
  await using stores = await open('cluster', redisConfig({ mode: 'cluster', urls: cluster.urls }));
  const [old, recent] = [await someClaims(stores), await someClaims(stores)];
  await using feed = await stores.revocations.feed();
  await stores.revocations.revoke('token', old.jti, FAR);
  expect((await feed.latest()).revokedBy(old)).toBe('token');
  await using listener = await listening(stores);
  /** Resolves to 'nothing' if it or the store does not answer. */
  const told = async (work: () => Promise<string | undefined>) =>
    work().catch((error: unknown) => {
      expect(error).toBeInstanceOf(StoreUnavailable);
      return 'nothing';
    });
  const amid = async () => {
    const token = { ...old, jti: fresh() };
    const known = await told(async () => {
      await stores.revocations.revoke('token', token.jti, FAR);
      return told(async () => (await feed.latest()).revokedBy(token));
    });
    expect(['token', 'nothing']).toContain(known);
  };
  const owner = await cluster.ownerOf('{test}:told');
  for (let turn = 0; turn < 2; turn += 1) {
    await cluster.moveSlotOf('{test}:told', amid);
    await eventually(() => stores.revocations.revoke('token', recent.jti, FAR));
  }
  expect(await cluster.ownerOf('{test}:told')).toBe(owner);
  await eventually(async () => expect((await feed.latest()).revokedBy(recent)).toBe('token'));
  await eventually(() => stores.invalidations.add([someInvalidation('x')]));
  expect(await eventually(() => listener.hear())).toMatchObject([{ value: 'x' }]);
  await using late = await stores.revocations.feed();
  expect((await late.latest()).revokedBy(old)).toBe('token');
});
