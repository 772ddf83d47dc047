import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { startCluster } from '../../../e2e/parts/redis-cluster.ts';
import type { RedisCluster } from '../../../e2e/parts/redis-cluster.ts';
import { eventually } from '../contract/eventually.ts';
import { storesContract } from '../contract/index.ts';
import { listening } from '../contract/cache/invalidations.ts';
import { someSubscription } from '../contract/push/samples.ts';
import { FAR, fresh, someInvalidation, somePublicKey } from '../contract/samples.ts';
import { digestOf } from './connection/digest.ts';
import { openTestRedis, redisConfig, redisUnderTest, someClaims } from './under-test.ts';

storesContract('Redis, Cluster of three masters', async () => {
  const cluster = await startCluster();
  const config = redisConfig({ mode: 'cluster', urls: cluster.urls.slice(0, 2) });
  return redisUnderTest(config, cluster.servers, cluster);
});

describe('a cluster in trouble', () => {
  let cluster: RedisCluster;
  let stores: Stores;
  beforeAll(async () => {
    cluster = await startCluster();
    stores = await openTestRedis(redisConfig({ mode: 'cluster', urls: cluster.urls }));
  });
  afterAll(async () => {
    await stores[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  test('the slot of the revocations moves: no revoked token passes amid it; then writes, reads and the feed follow it', async () => {
    const [old, recent] = [await someClaims(stores), await someClaims(stores)];
    await using feed = await stores.revocations.feed();
    await stores.revocations.revoke('token', old.jti, FAR);
    await eventually(() => expect(feed.current().revokedBy(old)).toBe('token'));
    await using listener = await listening(stores);
    const spent = Buffer.from('a token');
    expect(await stores.spentTokens.spend(spent, FAR)).toBe(true);
    /** Resolves to 'nothing' if it or the store does not answer. */
    const told = async (work: () => Promise<string | undefined>) =>
      work().catch((error: unknown) => {
        expect(error).toBeInstanceOf(StoreUnavailable);
        return 'nothing';
      });
    await cluster.moveSlotOf('{test}:revocations', async () => {
      const token = { ...old, jti: fresh() };
      const known = await told(async () => {
        await stores.revocations.revoke('token', token.jti, FAR);
        return told(async () => (await feed.latest()).revokedBy(token));
      });
      expect(['token', 'nothing']).toContain(known);
    });
    expect(await stores.revocations.epoch(false)).toBe(old.epoch);
    await eventually(() => stores.revocations.revoke('token', recent.jti, FAR));
    await eventually(() => expect(feed.current().revokedBy(recent)).toBe('token'));
    expect(await stores.spentTokens.spend(spent, FAR)).toBe(false);
    await eventually(() => stores.invalidations.add([someInvalidation('x')]));
    expect(await eventually(() => listener.hear())).toMatchObject([{ value: 'x' }]);
    await using late = await stores.revocations.feed();
    expect(late.current().revokedBy(old)).toBe('token');
  });

  test('the slot of a subscription moves: what was acknowledged amid it is so afterwards, and nothing is there by half', async () => {
    const { push, publicKeys } = stores;
    const subscription = someSubscription({ id: `m${fresh()}`, push: `m${fresh()}` });
    const limits = { messages: 999, receipts: 999 };
    /** The outcome, or 'nothing' if the store does not answer. */
    const told = async (work: () => Promise<unknown>) =>
      work().catch((error: unknown) => {
        expect(error).toBeInstanceOf(StoreUnavailable);
        return 'nothing';
      });
    const post = (id: string) => {
      const times = { posted_at: 0, until: FAR };
      const message = { id, subscription: subscription.id, urgency: 'normal' } as const;
      return push.post({ ...message, body: Buffer.of(1), ...times }, limits);
    };
    const idHere = () => {
      for (;;) {
        const id = fresh();
        if (digestOf(id).startsWith('m')) return id;
      }
    };
    expect(await push.subscribe(subscription, 9)).toBe('added');
    const early = Array.from({ length: 5 }, () => `m${fresh()}`);
    for (const id of early) expect(await post(id)).toBe('added');
    const outcomes = new Map<string, unknown>(early.map((id) => [id, 'added']));
    const keys = new Map<PublicKeyRecord, unknown>();
    await cluster.moveSlotOf('{test:m}:push:subscriptions', async () => {
      const next = `m${fresh()}`;
      outcomes.set(next, await told(() => post(next)));
      const gone = early.pop();
      if (gone !== undefined) outcomes.set(gone, await told(() => push.acknowledge(gone)));
      const key = somePublicKey(idHere());
      keys.set(key, await told(() => publicKeys.add(key, 9)));
    });
    const left = (await eventually(() => push.messages(subscription.id, 0, 'very-low', 999))).map(
      ({ id }) => id,
    );
    for (const [id, outcome] of outcomes) {
      if (outcome === 'added') expect(left).toContain(id);
      if (outcome === true) expect(left).not.toContain(id);
      expect((await push.message(id)) !== undefined).toBe(left.includes(id));
    }
    for (const [key, outcome] of keys) {
      const found = await publicKeys.get(key.id);
      if (outcome === 'added') expect(found).toEqual(key);
      expect(await publicKeys.of(key.owner)).toEqual(found === undefined ? [] : [key]);
    }
    for (const id of left) expect(await push.acknowledge(id)).toBe(true);
    expect(await push.unsubscribe(subscription.id)).toBe(true);
  });

  test('one master hangs: its keys are refused, the rest of the keys are served', async () => {
    const token = await someClaims(stores);
    await using feed = await stores.revocations.feed();
    feed.current();
    // It may be replaced meanwhile, which those who wait for it do not see.
    const config = redisConfig({ mode: 'cluster', urls: cluster.urls, deadline: 60 });
    await using patient = await openTestRedis(config);
    await using following = await patient.revocations.feed();
    await using listener = await listening(stores);
    await stores.invalidations.add([someInvalidation('before')]);
    const owner = await cluster.ownerOf('{test}:revocations');
    const uniques = (round: string) =>
      Promise.allSettled(
        Array.from({ length: 200 }, (_, n) => stores.replay.unique(round, `${n}`, 600)),
      );
    for (const one of await uniques('warm')) expect(one.status).toBe('fulfilled');
    owner.hang();
    try {
      for (const round of ['first', 'second']) {
        const outcomes = await uniques(round);
        const served = outcomes.filter((one) => one.status === 'fulfilled');
        const refused = outcomes.filter((one) => one.status === 'rejected');
        expect(served.length).toBeGreaterThan(50);
        expect(refused.length).toBeGreaterThan(20);
        for (const { reason } of refused) expect(reason).toBeInstanceOf(StoreUnavailable);
      }
      const revoking = stores.revocations.revoke('token', token.jti, FAR);
      await expect(revoking).rejects.toBeInstanceOf(StoreUnavailable);
      for (const one of [feed, following]) {
        await eventually(() => expect(() => one.current()).toThrow(StoreUnavailable));
        expect(one.status().silence).toBeLessThan(60_000);
      }
      await expect(listener.hear()).rejects.toBeInstanceOf(StoreUnavailable);
    } finally {
      owner.wake();
    }
    await eventually(() => stores.revocations.revoke('token', token.jti, FAR));
    await eventually(() => expect(feed.current().revokedBy(token)).toBe('token'));
    await eventually(() => stores.invalidations.add([someInvalidation('after')]));
    expect(await eventually(() => listener.hear())).toMatchObject([
      { value: 'before' },
      { value: 'after' },
    ]);
    for (const one of await uniques('after')) expect(one.status).toBe('fulfilled');
  });

  test('writes that wait for a replica follow a slot that moves, and are there afterwards; a server starts meanwhile', async () => {
    await cluster.replicate();
    const config = redisConfig({ mode: 'cluster', urls: cluster.urls, replicas: 1 });
    await using durable = await openTestRedis(config);
    await using feed = await stores.revocations.feed();
    const revoked: Awaited<ReturnType<typeof someClaims>>[] = [];
    const revoke = async () => {
      const claims = await someClaims(stores);
      await durable.revocations.revoke('token', claims.jti, FAR);
      revoked.push(claims);
    };
    await revoke();
    for (const key of ['{test}:revocations', '{test}:schema']) {
      await cluster.moveSlotOf(key, async () => {
        await revoke();
        // Looks at the layout, too, whose keys are at two masters meanwhile.
        await durable.ping();
        await using started = await openTestRedis(config);
        await started.ping();
      });
      await revoke();
    }
    expect(revoked.length).toBeGreaterThan(6);
    const view = await eventually(() => feed.latest());
    for (const claims of revoked) expect(view.revokedBy(claims)).toBe('token');
  });
});
