import { afterEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import type { CacheStore } from './cache-store.ts';
import { cacheStoreContract } from './contract/index.ts';
import { contentOf, idsOf, keep, KEY, someAnswer, textOf } from './contract/under-test.ts';
import { type CacheDisk, openDisk } from './disk.ts';
import { MemoryStore } from './memory.ts';
import { TieredStore } from './tiers.ts';

const disks: CacheDisk[] = [];
afterEach(async () => {
  for (const disk of disks.splice(0)) await disk[Symbol.asyncDispose]();
});

async function diskStore(maxBytes: number): Promise<CacheStore> {
  const disk = await openDisk({ folder: await temporaryFolder(), spaces: ['a'] });
  disks.push(disk);
  return disk.store('a', maxBytes);
}

cacheStoreContract({
  name: 'memory, beside a disk without room',
  open: async (maxBytes) =>
    new TieredStore(new MemoryStore(maxBytes), await diskStore(0), Infinity),
});
cacheStoreContract({
  name: 'disk, beside memory without room',
  open: async (maxBytes) => new TieredStore(new MemoryStore(0), await diskStore(maxBytes), 64),
});
cacheStoreContract({
  name: 'memory for four octets, then disk',
  open: async (maxBytes) =>
    new TieredStore(new MemoryStore(maxBytes), await diskStore(maxBytes), 4),
  each: true,
});

describe('memory with disk', () => {
  async function both() {
    const [memory, disk] = [new MemoryStore(1_000_000), await diskStore(1_000_000)];
    return { memory, disk, store: new TieredStore(memory, disk, 4) };
  }

  test.each([undefined, 4, 5])(
    'short content is stored in memory, and long content on disk (length known: %p)',
    async (length) => {
      const { memory, disk, store } = await both();
      const [short, long] = [someAnswer(), someAnswer()];
      if (length !== 5) await keep(store, { ...short, length }, 'shor');
      if (length !== 4) await keep(store, { ...long, length }, 'long!');
      expect(await idsOf(memory)).toEqual(length === 5 ? [] : [short.id]);
      expect(await idsOf(disk)).toEqual(length === 4 ? [] : [long.id]);
    },
  );

  test('the most recently received answer of memory or disk is found first', async () => {
    const { store } = await both();
    const [one, two, three] = [1, 2, 3].map((received) => someAnswer({ received }));
    if (!one || !two || !three) throw new Error('three');
    await keep(store, three, 'c');
    await keep(store, two, 'on disk');
    await keep(store, one, 'a');
    expect(await idsOf(store)).toEqual([three.id, two.id, one.id]);
    for (const [stored, text] of [
      [three, 'c'],
      [two, 'on disk'],
      [one, 'a'],
    ] as const) {
      expect(await contentOf(store, stored)).toBe(text);
    }
  });

  test.each([
    ['short', 'longer than that'],
    ['longer than that', 'shor'],
  ])('an entry in one tier replaces that in the other: %p by %p', async (before, after) => {
    const { store } = await both();
    const old = await keep(store, someAnswer(), before);
    const fresh = await keep(store, someAnswer(), after, [old?.id ?? '']);
    expect(await store.find(KEY)).toEqual([fresh]);
    expect(await contentOf(store, fresh ?? someAnswer())).toBe(after);
  });

  test('content that was removed while it was short is not stored on disk when it gets long', async () => {
    const { disk, store } = await both();
    const writing = store.begin(someAnswer());
    expect(await writing?.append(Buffer.from('con'))).toBe(true);
    await store.removeTarget(KEY.target, false);
    expect(await writing?.append(Buffer.from('tent'))).toBe(true);
    expect(await writing?.commit([])).toBeUndefined();
    expect(writing && (await textOf(writing))).toBe('content');
    writing?.close();
    expect(disk.stats()).toEqual({ entries: 0, octets: 0 });
  });

  test('content that was made stale while it was short is stale on disk', async () => {
    const { store } = await both();
    const writing = store.begin(someAnswer());
    await writing?.append(Buffer.from('con'));
    await store.removeWhere(() => true, true);
    await writing?.append(Buffer.from('tent'));
    expect(await writing?.commit([])).toMatchObject({ outdated: true, length: 7 });
    writing?.close();
  });

  test('content that ends while it moves from memory to disk leaves nothing', async () => {
    const { store } = await both();
    const writing = store.begin(someAnswer());
    await writing?.append(Buffer.from('con'));
    const appending = writing?.append(Buffer.from('tent'));
    writing?.close();
    expect(await appending).toBe(false);
    expect(store.stats()).toEqual({ entries: 0, octets: 0 });
  });

  test('on a disk without room the arrived part stays readable, and nothing is stored', async () => {
    const store = new TieredStore(new MemoryStore(1_000_000), await diskStore(0), 4);
    const writing = store.begin(someAnswer());
    expect(await writing?.append(Buffer.from('con'))).toBe(true);
    expect(await writing?.append(Buffer.from('tent'))).toBe(false);
    expect(writing && (await textOf(writing))).toBe('con');
    expect(await writing?.commit([])).toBeUndefined();
    writing?.close();
    expect(store.stats()).toEqual({ entries: 0, octets: 0 });
  });
});
