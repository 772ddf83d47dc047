import { expect, test } from '@jest/globals';
import type { CacheStore, Writing } from '../cache-store.ts';
import { idsOf, keep, KEY, someAnswer, type StoreUnderTest, textOf } from './under-test.ts';

const REMOVALS: Readonly<Record<string, (store: CacheStore, soft: boolean) => unknown>> = {
  removeTarget: (store, soft) => store.removeTarget(KEY.target, soft),
  removeWhere: (store, soft) => store.removeWhere(({ target }) => target === KEY.target, soft),
};

async function begun(store: CacheStore, stored = someAnswer()): Promise<Writing> {
  const writing = store.begin(stored);
  if (writing === undefined) throw new Error('not taken');
  await writing.append(Buffer.from('con'));
  return writing;
}

/** The races at a store. */
export function racesContract({ open }: StoreUnderTest): void {
  test('content that is removed or replaced during a read stays readable to its end', async () => {
    for (const gone of [
      (store: CacheStore, id: string) => store.remove({ id, target: KEY.target }),
      (store: CacheStore) => store.removeTarget(KEY.target, false),
      (store: CacheStore) => store.clear(),
      (store: CacheStore, id: string) => keep(store, someAnswer(), 'other', [id]),
    ]) {
      await using store = await open(1_000_000);
      const stored = await keep(store, someAnswer(), 'content');
      const content = await store.content(stored ?? someAnswer());
      expect(await content?.read(0, 3)).toEqual(Buffer.from('con'));
      await gone(store, stored?.id ?? '');
      expect(await content?.read(3, 100)).toEqual(Buffer.from('tent'));
      content?.close();
      content?.close();
      await store.clear();
      expect(store.stats()).toEqual({ entries: 0, octets: 0 });
    }
  });

  test('two answers that arrive at once for one key are both stored, each with its own content', async () => {
    await using store = await open(1_000_000);
    const [one, other] = [someAnswer(), someAnswer()];
    const [first, second] = [await begun(store, one), await begun(store, other)];
    await first.append(Buffer.from('one'));
    await second.append(Buffer.from('other'));
    await Promise.all([first.commit([]), second.commit([])]);
    expect((await idsOf(store)).toSorted()).toEqual([one.id, other.id].toSorted());
    expect(await textOf(first)).toBe('conone');
    expect(await textOf(second)).toBe('conother');
    for (const writing of [first, second]) writing.close();
  });

  test.each(Object.keys(REMOVALS))(
    'after %s an answer that began before is not found, and an answer that begins later is',
    async (name) => {
      await using store = await open(1_000_000);
      const before = await begun(store);
      const elsewhere = await begun(store, someAnswer({ target: '/other' }));
      await REMOVALS[name]?.(store, false);
      const after = await begun(store);
      expect(await before.append(Buffer.from('tent'))).toBe(true);
      expect(await before.commit([])).toBeUndefined();
      expect(await textOf(before)).toBe('content');
      expect(await elsewhere.commit([])).toBeDefined();
      const kept = await after.commit([]);
      expect(await store.find(KEY)).toEqual([kept]);
      for (const writing of [before, elsewhere, after]) writing.close();
    },
  );

  test.each(Object.keys(REMOVALS))(
    'after a soft %s an answer that began before is outdated',
    async (name) => {
      await using store = await open(1_000_000);
      const writing = await begun(store);
      await REMOVALS[name]?.(store, true);
      expect(await writing.commit([])).toMatchObject({ outdated: true });
      writing.close();
      expect(await store.find(KEY)).toMatchObject([{ outdated: true }]);
    },
  );

  test('after clear an answer that began before is not stored', async () => {
    await using store = await open(1_000_000);
    const writing = await begun(store);
    await store.clear();
    expect(await writing.commit([])).toBeUndefined();
    writing.close();
    expect(store.stats()).toEqual({ entries: 0, octets: 0 });
  });

  test('content that was removed while it arrived is not stored, and replaces nothing', async () => {
    await using store = await open(1_000_000);
    const other = someAnswer({ target: '/other' });
    await keep(store, other);
    const writing = await begun(store);
    await store.removeTarget(KEY.target, false);
    await writing.commit([other.id]);
    writing.close();
    expect(await idsOf(store, other)).toEqual([other.id]);
  });

  test('during removeWhere, other answers can be found, stored, freshened and removed', async () => {
    await using store = await open(10_000_000);
    const all = Array.from({ length: 1000 }, (_, n) =>
      someAnswer({ target: `/${n}`, status: 404 }),
    );
    for (const stored of all) await keep(store, stored);
    const during = await begun(store, someAnswer({ status: 404 }));
    const removing = store.removeWhere(({ status }) => status === 404, false);
    const [fresh, gone] = [all[990], all[991]];
    if (fresh) await store.replace({ ...fresh, length: 1, received: 5000 });
    if (gone) await store.remove(gone);
    expect(await during.commit([])).toBeUndefined();
    during.close();
    const later = someAnswer({ status: 404 });
    await keep(store, later);
    expect(await removing).toBe(999);
    expect(await idsOf(store)).toEqual([later.id]);
    expect(store.stats().entries).toBe(1);
  });
}
