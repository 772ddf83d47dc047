import { describe, expect, test } from '@jest/globals';
import type { FeedEntry, FeedPage, FollowedProcess } from '../../revocation/followers.ts';
import type { Stores } from '../../stores.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

const HOUR = 3_600_000;

const someProcess = (changes: Partial<FollowedProcess> = {}): FollowedProcess => ({
  id: fresh(),
  confirmed: 0,
  lease: 2_000,
  beat: 1,
  ...changes,
});

export function followersContract(contract: () => Contract): void {
  const until = () => contract().store.clock.now() + HOUR;
  const epochOf = async ({ revocations }: Stores) => (await revocations.epoch(true)) ?? '';

  /** Returns all pages with `count` entries from a position to the end. */
  async function pages(stores: Stores, entry: number, count: number): Promise<FeedPage[]> {
    const epoch = await epochOf(stores);
    const found = [await stores.followers.page({ epoch, entry }, count)];
    for (let last = found[0]; last?.complete === false; last = found.at(-1)) {
      found.push(await stores.followers.page({ epoch, entry: last.last }, count));
    }
    return found;
  }

  describe('processes that have followers', () => {
    test('all processes read the last written entry of a follower, until the entry is removed', async () => {
      const { one, other } = contract();
      const epoch = await epochOf(one);
      const [first, second] = [someProcess(), someProcess({ confirmed: 17, lease: 250 })];
      expect(await one.followers.put(first, epoch)).toBe(true);
      expect(await one.followers.put(second, epoch)).toBe(true);
      const { processes } = await other.followers.look();
      expect(processes).toEqual(expect.arrayContaining([first, second]));
      const again = { ...first, confirmed: 18, beat: 2 };
      expect(await other.followers.put(again, epoch)).toBe(true);
      expect((await one.followers.look()).processes).toContainEqual(again);
      await other.followers.remove(again);
      await other.followers.remove(second);
      const left = (await one.followers.look()).processes.map(({ id }) => id);
      expect(left).not.toContain(first.id);
      expect(left).not.toContain(second.id);
    });

    test('a process that has written meanwhile is not removed', async () => {
      const { one, other } = contract();
      const epoch = await epochOf(one);
      const before = someProcess();
      await one.followers.put(before, epoch);
      const after = { ...before, beat: 2 };
      await one.followers.put(after, epoch);
      await other.followers.remove(before);
      expect((await one.followers.look()).processes).toContainEqual(after);
      await other.followers.remove(after);
    });

    test('a process with another epoch is not written', async () => {
      const { one, store } = contract();
      const process = someProcess();
      expect(await one.followers.put(process, fresh())).toBe(false);
      await store.forget();
      expect(await one.followers.put(process, '')).toBe(false);
      expect(await one.followers.look()).toMatchObject({ epoch: undefined, processes: [] });
    });

    test('an epoch is settled from `settle` on until the store gets another epoch', async () => {
      const { one, other, store } = contract();
      await store.forget();
      expect(await one.followers.look()).toMatchObject({ epoch: undefined, settled: false });
      await one.followers.settle(undefined);
      expect(await other.followers.look()).toMatchObject({ epoch: undefined, settled: true });
      const epoch = await epochOf(one);
      expect(await other.followers.look()).toMatchObject({ epoch, settled: false });
      await other.followers.settle(epoch);
      expect(await one.followers.look()).toMatchObject({ epoch, settled: true });
      await store.forget();
      await epochOf(one);
      expect(await one.followers.look()).toMatchObject({ settled: false });
    });
  });

  describe('pages of the feed', () => {
    test('the pages have each revocation once and in order, whatever the length of a page', async () => {
      const { one, other } = contract();
      await epochOf(one);
      const { last: before } = await other.followers.look();
      const end = Math.ceil(until());
      const expected: FeedEntry[] = [];
      for (const kind of ['token', 'grant', 'key', 'token', 'key'] as const) {
        const id = fresh();
        await one.revocations.revoke(kind, id, end);
        expected.push({ kind, id, until: end });
      }
      for (const kind of ['person', 'client'] as const) {
        const id = fresh();
        expected.push({
          kind,
          id,
          generation: await one.revocations.raise(kind, id, end),
          until: end,
        });
      }
      for (const count of [1, 3, 7, 1_000]) {
        const found = await pages(other, before, count);
        expect(found.flatMap(({ entries }) => entries)).toEqual(expected);
        expect(found.every(({ entries }) => entries.length <= count)).toBe(true);
        const { last } = await one.followers.look();
        expect(found.at(-1)?.last).toBe(last);
        expect(last).toBeGreaterThan(before);
      }
    });

    test('an acknowledged revocation is in the next page', async () => {
      const { one, other } = contract();
      const epoch = await epochOf(one);
      for (let n = 0; n < 20; n += 1) {
        const { last: entry } = await other.followers.look();
        const id = fresh();
        await one.revocations.revoke('token', id, until());
        const { entries } = await other.followers.page({ epoch, entry }, 1_000);
        expect(entries.map((found) => found.id)).toContain(id);
      }
    });

    test('for a position of another epoch the pages begin at the start', async () => {
      const { one, store } = contract();
      await store.forget();
      const epoch = await epochOf(one);
      const id = fresh();
      await one.revocations.revoke('token', id, until());
      const ids = async (position: Parameters<typeof one.followers.page>[0]) =>
        (await one.followers.page(position, 1_000)).entries.map((entry) => entry.id);
      expect(await ids(undefined)).toEqual([id]);
      expect(await ids({ epoch: fresh(), entry: 1 })).toEqual([id]);
      expect(await ids({ epoch, entry: 999_999_999_999_999 })).toEqual([id]);
      const { last } = await one.followers.look();
      expect(await ids({ epoch, entry: last })).toEqual([]);
    });

    test('a store without an epoch returns none', async () => {
      const { one, store } = contract();
      await store.forget();
      const page = await one.followers.page(undefined, 10);
      expect(page).toMatchObject({ epoch: undefined, complete: true, entries: [] });
      await epochOf(one);
    });
  });
}
