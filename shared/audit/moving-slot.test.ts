import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { FAR, fresh, somePerson } from '#shared/stores/contract/samples.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { openTestRedis, redisConfig } from '#shared/stores/redis/under-test.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { type RedisCluster, startCluster } from '../../e2e/parts/redis-cluster.ts';
import { closeOpen } from './close.ts';
import { keyOf, textOf } from './entry.ts';
import { macKey } from './mac.ts';
import { verifyLog } from './verify.ts';

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

test.each(['{test:audit}:head', '{test:A}:audit:rows', '{test}:people'])(
  'the slot of %s moves key by key amid changes and their events: both are there or neither, and the log holds',
  async (key) => {
    const master = Buffer.alloc(32, 7);
    const parts = { audit: stores.audit, key: macKey(master), clock: systemClock };
    const tried: string[] = [];
    const done = new Set<string>();
    /** Resolves to whether it was done. Another error than `StoreUnavailable` ends the test. */
    const attempt = (work: Promise<unknown>) =>
      work.then(
        () => true,
        (error: unknown) => {
          expect(error).toBeInstanceOf(StoreUnavailable);
          return false;
        },
      );
    const change = async () => {
      const person = somePerson(fresh());
      tried.push(person.id);
      const event = { kind: 'person.added', person: person.id } as const;
      const text = textOf(event, { who: 'operator', how: 'http' }, systemClock.now());
      if (await attempt(stores.recorded('people', text).add(person))) done.add(person.id);
      await attempt(closeOpen(parts));
    };
    for (let n = 0; n < 5; n += 1) await eventually(change);
    await cluster.moveSlotOf(key, change);
    await eventually(async () => {
      await change();
      expect(done).toContain(tried.at(-1));
    });
    await eventually(() => closeOpen(parts));
    const verified = await verifyLog(stores.audit, parts.key);
    expect(verified).toMatchObject({ ok: true });
    const rows = await stores.audit.rows({ first: 0, last: FAR }, 10_000);
    for (const id of tried) {
      const isThere = (await stores.people.get(id)) !== undefined;
      const told = rows.filter(({ text }) => text.includes(`"${id}"`)).length;
      expect([id, told]).toEqual([id, isThere ? 1 : 0]);
      if (done.has(id)) expect(isThere).toBe(true);
    }
    const found = await stores.audit.rows(
      { key: keyOf.kind('person.added'), first: 0, last: FAR },
      10_000,
    );
    expect(found).toHaveLength(rows.length);
  },
);
