import { expect, test } from '@jest/globals';
import type { CacheStore } from '../cache-store.ts';
import { MOST_VARIANTS } from '../shelf.ts';
import { contentOf, idsOf, keep, KEY, someAnswer, type StoreUnderTest } from './under-test.ts';

const MOST = 100_000;
const page = (n: number) => someAnswer({ target: `/${n}` });
const isKept = async (store: CacheStore, n: number) =>
  (await idsOf(store, { ...KEY, target: `/${n}` })).length > 0;

/** The limits of a store. */
export function boundsContract({ open }: StoreUnderTest): void {
  test('the answers that were unused for the longest time are evicted first', async () => {
    await using store = await open(MOST);
    for (let n = 0; n < 4; n += 1) await keep(store, page(n), 'a'.repeat(20_000));
    expect(await isKept(store, 0)).toBe(true);
    for (let n = 4; n < 6; n += 1) await keep(store, page(n), 'a'.repeat(20_000));
    expect(await isKept(store, 1)).toBe(false);
    for (const n of [0, 4, 5]) expect(await isKept(store, n)).toBe(true);
    expect(store.stats().octets).toBeLessThanOrEqual(MOST);
  });

  test('descriptions of answers take room, even without content, and so do long fields', async () => {
    await using store = await open(MOST);
    for (let n = 0; n < 400; n += 1) await keep(store, page(n), '');
    expect(store.stats().entries).toBeLessThan(70);
    const lines: [string, string][] = [['X-Long', 'a'.repeat(10_000)]];
    for (let n = 0; n < 20; n += 1) await keep(store, { ...page(n), lines }, '');
    expect(store.stats().entries).toBeLessThan(10);
    expect(store.stats().octets).toBeLessThanOrEqual(MOST);
  });

  test('an answer takes a quarter of the room at most: a longer one is refused at its begin, or when its length is known', async () => {
    await using store = await open(MOST);
    await keep(store, page(0));
    expect(store.begin(someAnswer({ length: MOST / 4 }))).toBeUndefined();
    const lines: [string, string][] = [['X-Long', 'a'.repeat(MOST / 4)]];
    expect(store.begin(someAnswer({ lines }))).toBeUndefined();
    const writing = store.begin(someAnswer());
    expect(await writing?.append(Buffer.alloc(20_000, 'a'))).toBe(true);
    expect(await writing?.append(Buffer.alloc(5000, 'b'))).toBe(false);
    expect(await writing?.append(Buffer.alloc(1))).toBe(false);
    expect(await writing?.read(19_999, 100)).toEqual(Buffer.from('a'));
    expect(await writing?.commit([])).toBeUndefined();
    writing?.close();
    expect(await isKept(store, 0)).toBe(true);
    expect(store.stats().entries).toBe(1);
  });

  test('arriving content and content that is still read take room, and without room nothing is stored', async () => {
    await using store = await open(MOST);
    const stored = await keep(store, page(0), 'a'.repeat(20_000));
    const content = await store.content(stored ?? page(0));
    await store.remove(stored ?? page(0));
    const coming = [1, 2, 3].map((n) => store.begin({ ...page(n), length: 20_000 }));
    expect(coming).not.toContain(undefined);
    expect(store.begin({ ...page(4), length: 20_000 })).toBeUndefined();
    const unknown = store.begin(page(5));
    expect(await unknown?.append(Buffer.alloc(20_000))).not.toBe(true);
    unknown?.close();
    expect(store.stats().octets).toBeLessThanOrEqual(MOST);
    expect(await content?.read(19_999, 2)).toEqual(Buffer.from('a'));
    content?.close();
    const again = store.begin({ ...page(4), length: 20_000 });
    expect(again).toBeDefined();
    for (const one of [...coming, again]) one?.close();
    expect(store.stats()).toEqual({ entries: 0, octets: 0 });
  });

  test('content that is being read is not evicted, since that would make no room', async () => {
    await using store = await open(MOST);
    const first = await keep(store, page(0), 'a'.repeat(20_000));
    const content = await store.content(first ?? page(0));
    for (let n = 1; n < 6; n += 1) await keep(store, page(n), 'a'.repeat(20_000));
    expect(await isKept(store, 0)).toBe(true);
    expect(await isKept(store, 1)).toBe(false);
    content?.close();
  });

  test('a key has a limited number of variants, and the first received is removed', async () => {
    await using store = await open(10_000_000);
    const all = Array.from({ length: MOST_VARIANTS + 1 }, (_, n) =>
      someAnswer({ vary: [['accept', `${n}`]], received: 1000 + n }),
    );
    for (const stored of all) await keep(store, stored);
    const ids = await idsOf(store);
    expect(ids).toHaveLength(MOST_VARIANTS);
    expect(ids).not.toContain(all[0]?.id);
    expect(await contentOf(store, all[0] ?? page(0))).toBeUndefined();
    expect(store.stats().entries).toBe(MOST_VARIANTS);
  });

  test('a store without room stores nothing', async () => {
    await using store = await open(0);
    expect(store.begin(someAnswer({ length: 0 }))).toBeUndefined();
    expect(await store.removeTarget('/', false)).toBe(0);
    expect(store.stats()).toEqual({ entries: 0, octets: 0 });
  });
}
