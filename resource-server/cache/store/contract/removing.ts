import { expect, test } from '@jest/globals';
import type { Stored } from '../../rules/stored.ts';
import { contentOf, idsOf, KEY, keep, someAnswer, type StoreUnderTest } from './under-test.ts';

/** RFC 9111 section 4.4, PURGE and BAN: what is removed or made stale. */
export function removingContract({ open }: StoreUnderTest): void {
  const ofTarget = () => [
    someAnswer(),
    someAnswer({ vary: [['accept', 'a']] }),
    someAnswer({ whose: 'alice' }),
    someAnswer({ content: 'digest' }),
  ];

  test('removing an answer leaves its variants', async () => {
    await using store = await open(1_000_000);
    const [one, other] = [someAnswer(), someAnswer()];
    for (const stored of [one, other]) await keep(store, stored);
    await store.remove(one);
    await store.remove(one);
    expect(await idsOf(store)).toEqual([other.id]);
  });

  test('removeTarget removes all answers of a target: variants, of all principals, and to requests with content', async () => {
    await using store = await open(1_000_000);
    const other = someAnswer({ target: '/a' });
    const all = ofTarget();
    for (const stored of [...all, other]) await keep(store, stored);
    expect(await store.removeTarget(KEY.target, false)).toBe(4);
    for (const stored of all) expect(await store.find(stored)).toEqual([]);
    expect(await idsOf(store, other)).toEqual([other.id]);
    expect(store.stats().entries).toBe(1);
    expect(await store.removeTarget(KEY.target, false)).toBe(0);
  });

  test('a soft removeTarget marks all answers of a target as outdated until they are freshened', async () => {
    await using store = await open(1_000_000);
    const other = someAnswer({ target: '/a' });
    const all = ofTarget();
    for (const stored of [...all, other]) await keep(store, stored);
    expect(await store.removeTarget(KEY.target, true)).toBe(4);
    for (const stored of all) {
      const found = (await store.find(stored)).find(({ id }) => id === stored.id);
      expect(found).toMatchObject({ id: stored.id, outdated: true });
      expect(await contentOf(store, stored)).toBe(`content of ${stored.id}`);
      if (found) await store.replace({ ...found, outdated: false });
      expect(await store.find(stored)).toContainEqual({ ...found, outdated: false });
    }
    expect(await store.find(other)).toMatchObject([{ outdated: false }]);
  });

  test.each([false, true])(
    'removeWhere removes all matching answers of a thousand (soft: %p)',
    async (soft) => {
      await using store = await open(10_000_000);
      const all = Array.from({ length: 1000 }, (_, n) =>
        someAnswer({ target: `/${n}`, status: n % 3 === 0 ? 404 : 200, tags: [`tag ${n % 2}`] }),
      );
      for (const stored of all) await keep(store, stored);
      const matches = ({ status, tags }: Stored) => status === 404 && tags.includes('tag 1');
      expect(await store.removeWhere(matches, soft)).toBe(167);
      const found = [];
      for (const stored of all) found.push(...(await store.find(stored)));
      const hit = soft ? found.filter(({ outdated }) => outdated) : found.filter(matches);
      expect(hit).toHaveLength(soft ? 167 : 0);
      expect(hit.every(matches)).toBe(true);
      expect(store.stats().entries).toBe(soft ? 1000 : 833);
    },
  );

  test('clear removes all answers', async () => {
    await using store = await open(1_000_000);
    for (const stored of ofTarget()) await keep(store, stored);
    await store.clear();
    for (const stored of ofTarget()) expect(await store.find(stored)).toEqual([]);
    expect(store.stats()).toEqual({ entries: 0, octets: 0 });
    await keep(store, someAnswer());
    expect(store.stats().entries).toBe(1);
  });
}
