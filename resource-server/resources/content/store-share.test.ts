import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { type Buckets, intervalOf } from '#shared/stores/limits/buckets.ts';
import { limitsOver } from '#shared/stores/limits/blocks.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { createStoreShare } from './store-share.ts';
import { createWholeTreeTurns } from './whole-trees.ts';

/** The buckets of a store that uses the test's clock. */
function bucketsBy(clock: ManualClock): Buckets {
  const kept = new Map<string, number>();
  return {
    async take(namespace, key, rate, { wanted }) {
      const [name, interval] = [`${namespace} ${key}`, intervalOf(rate)];
      const now = clock.now() * 1000;
      const from = Math.max(kept.get(name) ?? now, now);
      const room = Math.floor((now + rate.burst * interval - from) / interval);
      const until = from + Math.min(room, wanted) * interval;
      kept.set(name, until);
      return { now, from, until };
    },
    giveBack: () => Promise.reject(new Error('nothing is given back')),
  };
}

/** Makes processes with one store and one clock. Only pauses and work advance the clock. */
function processes(count: number) {
  const clock = new ManualClock();
  const asked: number[] = [];
  const buckets = limitsOver(bucketsBy(clock), clock);
  const limits: Pick<Limits, 'take'> = {
    take(namespace, key, rate, amount) {
      asked.push(amount);
      return buckets.take(namespace, key, rate, amount);
    },
  };
  const pause = async (milliseconds: number) => clock.advance(milliseconds / 1000);
  const turns = Array.from({ length: count }, () =>
    createWholeTreeTurns(createStoreShare({ limits, clock, pause })),
  );
  /** A change that takes `milliseconds`. Resolves to the milliseconds before it began. */
  async function change(who: string, milliseconds: number, process = 0): Promise<number> {
    const sent = clock.monotonic();
    const began = await turns[process]?.(who, async () => {
      const now = clock.monotonic();
      clock.advance(milliseconds / 1000);
      return now;
    });
    return Math.round((began ?? 0) - sent);
  }
  return { clock, asked, change };
}

test('an account that repeats changes gets a quarter of the time, after three seconds at once', async () => {
  const { clock, change } = processes(1);
  const waits: number[] = [];
  while (waits.length < 20) waits.push(await change('a', 900));
  expect(waits.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
  // A quarter of 3.6 s. The store counts whole units of 40 ms.
  for (const wait of waits.slice(6)) expect(Math.abs(wait - 2700)).toBeLessThanOrEqual(40);
  clock.advance(60);
  expect([await change('a', 900), await change('a', 900)]).toEqual([0, 0]);
});

test('two processes share what an account may use, so the use in one slows the other', async () => {
  const { clock, change } = processes(2);
  for (let n = 0; n < 10; n += 1) await change('a', 500, n % 2);
  const began = clock.monotonic();
  for (let n = 0; n < 40; n += 1) await change('a', 500, n % 2);
  const took = clock.monotonic() - began;
  expect(Math.round((40 * 500 * 100) / took)).toBe(25);
});

test('changes of other accounts begin at once while one account uses its whole share', async () => {
  const { change } = processes(1);
  for (let n = 0; n < 20; n += 1) await change('a', 500);
  expect(await change('b', 500)).toBe(0);
  expect(await change('c', 10)).toBe(0);
});

test('many accounts get half of the time together', async () => {
  const { clock, change } = processes(2);
  const account = (n: number) => `account ${n}`;
  for (let n = 0; n < 40; n += 1) await change(account(n), 500, n % 2);
  const began = clock.monotonic();
  for (let n = 0; n < 40; n += 1) await change(account(40 + n), 500, n % 2);
  const took = clock.monotonic() - began;
  expect(Math.round((40 * 500 * 10) / took)).toBe(5);
});

test('RFC 6585 section 4: a change that would wait for more than ten seconds is 429 with the seconds', async () => {
  const { clock, change } = processes(1);
  await change('a', 6000);
  await expect(change('a', 1)).rejects.toMatchObject({
    status: 429,
    fields: { 'Retry-After': '12' },
  });
  expect(await change('b', 1)).toBe(6000);
  clock.advance(12);
  expect(await change('a', 1)).toBe(0);
});

test('changes wait at most ten seconds for the share of all accounts, and are not refused for the use of others', async () => {
  const { change } = processes(8);
  for (let n = 0; n < 8; n += 1) await change(`account ${n}`, 60_000, n);
  expect(await change('another', 5, 7)).toBe(10_000);
});

test('small changes record one use in the store per ten milliseconds, and never wait', async () => {
  const { clock, asked, change } = processes(1);
  const waits = new Set<number>();
  for (let n = 0; n < 1000; n += 1) {
    waits.add(await change('a', 1));
    clock.advance(0.004);
  }
  expect([...waits]).toEqual([0]);
  expect(asked.length).toBeGreaterThanOrEqual(198);
  expect(asked.length).toBeLessThanOrEqual(200);
});

test('failed work counts as use; during an outage of the store nothing is counted and no change fails', async () => {
  const clock = new ManualClock();
  const asked: number[] = [];
  const outage = { yes: false };
  const share = createStoreShare({
    limits: {
      async take(_, __, ___, amount) {
        if (outage.yes) throw new StoreUnavailable('down');
        asked.push(amount);
        return 1000;
      },
    },
    clock,
    pause: () => Promise.reject(new Error('nobody waits')),
  });
  const failed = share.counted('a', async () => {
    clock.advance(0.5);
    throw new Error('mine');
  });
  await expect(failed).rejects.toThrow('mine');
  expect(asked).toEqual([50, 50]);
  outage.yes = true;
  const done = share.counted('a', async () => {
    clock.advance(0.5);
    return 'done';
  });
  expect(await done).toBe('done');
});
