import { describe, expect, test } from '@jest/globals';
import type { Stores } from '../../stores.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** Limits that processes hold in blocks: a sixteenth of the remaining uses. */
export function blocksContract(contract: () => Contract): void {
  describe('limits in blocks', () => {
    const rate = { burst: 160, per: 600 };

    const spend = async ({ limits }: Stores, key: string) => {
      const spent = await limits.spend('api-key', key, rate);
      return spent.ok ? spent.remaining : 'none';
    };
    const granted = async (stores: Stores, key: string) => {
      let count = 0;
      while ((await spend(stores, key)) !== 'none') count += 1;
      return count;
    };

    test('a process counts the remaining uses without its own block, while other processes count the whole block as used', async () => {
      const { one, other } = contract();
      const key = fresh();
      for (let n = 159; n >= 150; n -= 1) expect(await spend(one, key)).toBe(n);
      // The 11th use takes a block of ten.
      expect(await spend(one, key)).toBe(149);
      expect(await spend(other, key)).toBe(140);
      expect(await spend(one, key)).toBe(148);
    });

    test('one process can use the whole bucket, and then the store refuses', async () => {
      const { one } = contract();
      const key = fresh();
      for (let n = 159; n >= 0; n -= 1) expect(await spend(one, key)).toBe(n);
      const refused = await one.limits.spend('api-key', key, rate);
      expect(refused).toEqual({ ok: false, retryAfter: expect.any(Number) });
      if (!refused.ok) expect(refused.retryAfter).toBeGreaterThan(590);
    });

    test('a process cannot use the block of another process, which is at most a sixteenth', async () => {
      const { one, other } = contract();
      const key = fresh();
      await spend(one, key);
      expect(await granted(other, key)).toBe(150);
      expect(await granted(one, key)).toBe(9);
    });

    test('a process cannot use an old block after the bucket has been filled again', async () => {
      const { one, other, store } = contract();
      const key = fresh();
      await spend(one, key);
      await store.passSeconds(1_000_000);
      expect(await granted(other, key)).toBe(160);
      expect(await spend(one, key)).toBe('none');
    });

    test('the block of an ended process is lost until the bucket is full again', async () => {
      const { one, store } = contract();
      const key = fresh();
      await spend(one, key);
      {
        await using ended = await store.open();
        await spend(ended, key);
      }
      expect(await granted(one, key)).toBe(9 + 141);
      await store.passSeconds(1_000_000);
      expect(await granted(one, key)).toBe(160);
    });

    test.each([5, 40, 160])(
      'if twice the burst of %d is used at once, one process is granted exactly the burst, and two processes at most the burst',
      async (burst) => {
        const { one, other } = contract();
        const atOnce = async (through: readonly Stores[]) => {
          const key = fresh();
          const spending = Array.from({ length: 2 * burst }, async (_, n) =>
            through[n % through.length]?.limits.spend('api-key', key, { burst, per: 600 }),
          );
          return (await Promise.all(spending)).filter((spent) => spent?.ok).length;
        };
        expect(await atOnce([one])).toBe(burst);
        const inTwo = await atOnce([one, other]);
        expect(inTwo).toBeLessThanOrEqual(burst);
        expect(inTwo).toBeGreaterThanOrEqual(burst - 2 * Math.floor(burst / 16));
      },
    );

    test('a process can take again only the uses that it gave back', async () => {
      const { one, other } = contract();
      const key = fresh();
      const giveBack = ({ limits }: Stores) => limits.giveBack('api-key', key, rate);
      await giveBack(one);
      expect(await spend(one, key)).toBe(159);
      expect(await spend(other, key)).toBe(149);
      for (let n = 0; n < 5; n += 1) await giveBack(one);
      expect(await spend(one, key)).toBe(159);
      for (let n = 0; n < 5; n += 1) await giveBack(other);
      expect([await spend(other, key), await spend(other, key)]).toEqual([149, 148]);
    });

    test('nine of ten uses can be given back at once, though such a small bucket is not held', async () => {
      const { one } = contract();
      const key = fresh();
      const few = { burst: 10, per: 600 };
      const spending = Array.from({ length: 10 }, async () => one.limits.spend('client', key, few));
      expect((await Promise.all(spending)).every(({ ok }) => ok)).toBe(true);
      expect((await one.limits.spend('client', key, few)).ok).toBe(false);
      const giving = Array.from({ length: 9 }, () => one.limits.giveBack('client', key, few));
      await Promise.all(giving);
      expect(await one.limits.spend('client', key, few)).toMatchObject({ remaining: 8 });
    });

    test('a bucket keeps its used-up part if its rate changes', async () => {
      const { one } = contract();
      const key = fresh();
      expect(await spend(one, key)).toBe(159);
      const twice = { burst: 320, per: 600 };
      expect(await one.limits.spend('api-key', key, twice)).toMatchObject({ remaining: 309 });
      expect(await one.limits.spend('api-key', key, { burst: 5, per: 600 })).toMatchObject({
        ok: false,
      });
    });
  });
}
