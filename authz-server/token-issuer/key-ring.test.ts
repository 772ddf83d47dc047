/** @slow */
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { GENERATE, type TokenKeyLifecycle } from '#shared/keys/token-key-lifecycle.ts';
import { voprf } from '#shared/private-token/voprf-thread.fixture.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { blindSigners } from './blind-signers.ts';
import { type IssuerKeyRing, openIssuerKeyRing } from './key-ring.ts';
import { TIMES } from './token-issuer.fixture.ts';

let clock: ManualClock;
let stores: Stores;
beforeEach(async () => {
  clock = new ManualClock();
  stores = await openSqlite({ folder: await storeFolder(), clock, random: systemRandom });
  await stores.revocations.epoch(true);
});
afterEach(async () => {
  await stores[Symbol.asyncDispose]();
});

const life = (more: Partial<TokenKeyLifecycle> = {}): TokenKeyLifecycle => ({
  stores,
  master: Buffer.alloc(32, 7),
  clock,
  random: systemRandom,
  times: TIMES,
  generate: GENERATE,
  ...more,
});
const open = (more: Partial<TokenKeyLifecycle> = {}) =>
  openIssuerKeyRing(life(more), blindSigners(voprf));

/** Returns the store's keys, whose reading a test can change. */
const reading = (list: () => Promise<unknown>) => ({
  stores: {
    revocations: stores.revocations,
    tokenKeys: {
      ...stores.tokenKeys,
      async list() {
        const rows = await stores.tokenKeys.list();
        await list();
        return rows;
      },
    },
  },
});

test('with another master secret the start fails and says what to do, and no key is changed', async () => {
  await open();
  const before = await stores.tokenKeys.list();
  await expect(open({ master: Buffer.alloc(32, 8) })).rejects.toThrow(
    'the keys of the token issuer in the store do not open under this master secret: give the secret they were made with',
  );
  expect(await stores.tokenKeys.list()).toEqual(before);
});

describe('a thousand concurrent searches for keys', () => {
  const thousand = (ring: IssuerKeyRing) => Promise.all(Array.from({ length: 1000 }, ring.refresh));

  test('concurrent searches share one reading, even if their requests arrive one after the other', async () => {
    let read = 0;
    const ring = await open(reading(async () => void (read += 1)));
    const request = async () => {
      await setImmediate();
      await ring.refresh();
    };
    read = 0;
    await Promise.all(Array.from({ length: 1000 }, request));
    expect(read).toBe(1);
    await thousand(ring);
    expect(read).toBe(2);
  });

  test('searches during a reading share the next reading, and see all keys that existed when they arrived', async () => {
    let read = 0;
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let wait = async () => {};
    const ring = await open(reading(() => wait()));
    wait = async () => {
      read += 1;
      begun.resolve();
      await held.promise;
    };
    const stale = ring.refresh();
    await begun.promise;
    clock.advance(TIMES.rotation);
    await open();
    const asked = thousand(ring);
    held.resolve();
    await stale;
    expect(ring.live).toHaveLength(2);
    await asked;
    expect(ring.live).toHaveLength(4);
    expect(read).toBe(2);
  });

  test('a failed reading fails only for its callers, and the next reading succeeds', async () => {
    let wait = async () => {};
    const ring = await open(reading(() => wait()));
    wait = () => Promise.reject(new StoreUnavailable('gone'));
    const asked = await Promise.allSettled(Array.from({ length: 10 }, ring.refresh));
    expect(asked.every(({ status }) => status === 'rejected')).toBe(true);
    wait = async () => {};
    await ring.refresh();
    expect(ring.live).toHaveLength(2);
  });
});

test('a thousand requests with an unknown key cause one reading of the rows per second', async () => {
  let read = 0;
  const ring = await open(reading(async () => void (read += 1)));
  const nobody = () => ring.find(() => false);
  read = 0;
  for (let second = 1; second <= 3; second += 1) {
    const found = await Promise.all(Array.from({ length: 1000 }, nobody));
    expect(found.every((key) => key === undefined)).toBe(true);
    await nobody();
    expect(read).toBe(second);
    clock.advance(1);
  }
});

test('a known key is found without the store', async () => {
  let read = 0;
  const ring = await open(reading(async () => void (read += 1)));
  read = 0;
  expect(await ring.find(() => true)).toBeDefined();
  expect(read).toBe(0);
});

test('a clock that is set back delays no request', async () => {
  let read = 0;
  const ring = await open(reading(async () => void (read += 1)));
  read = 0;
  await ring.find(() => false);
  clock.advance(-100);
  await ring.find(() => false);
  expect(read).toBe(2);
});

test('maintenance that runs three times at the same time makes one key', async () => {
  let made = 0;
  const generate: TokenKeyLifecycle['generate'] = {
    ...GENERATE,
    2: () => {
      made += 1;
      return GENERATE[2](systemRandom);
    },
  };
  const ring = await open({ generate });
  clock.advance(TIMES.rotation);
  await Promise.all([ring.keep(), ring.keep(), ring.keep()]);
  expect(made).toBe(2);
});

test('after the store lost its memory its keys are retired at once, and new keys are made', async () => {
  const old = (await open()).live.map(({ id }) => id.toString('base64url'));
  const restored = await open({
    stores: {
      tokenKeys: stores.tokenKeys,
      revocations: { ...stores.revocations, epoch: async () => 'another' },
    },
  });
  const live = restored.live.map(({ id }) => id.toString('base64url'));
  expect(live).toHaveLength(2);
  const rows = await stores.tokenKeys.list();
  expect(rows.map(({ id, sealed }) => [id, sealed !== undefined])).toEqual([
    ...old.map((id) => [id, false]),
    ...live.map((id) => [id, true]),
  ]);
});

test('while the store has no epoch no key is made or read', async () => {
  const without = {
    tokenKeys: stores.tokenKeys,
    revocations: { ...stores.revocations, epoch: async () => undefined },
  };
  await expect(open({ stores: without })).rejects.toThrow(StoreUnavailable);
  expect(await stores.tokenKeys.list()).toEqual([]);
});

describe('a key that is due and cannot be made', () => {
  const fails: TokenKeyLifecycle['generate'] = {
    ...GENERATE,
    2: () => Promise.reject(new Error('no entropy')),
  };

  test('without a first key the start fails', async () => {
    await expect(open({ generate: fails })).rejects.toThrow('no entropy');
  });

  test('without a later key the start succeeds, the chore logs the error, and the other type has its key', async () => {
    await open();
    clock.advance(TIMES.rotation);
    const ring = await open({ generate: fails });
    await expect(ring.keep()).rejects.toThrow('no entropy');
    expect(ring.live.map(({ type }) => type)).toEqual([1, 2, 1]);
  });
});
