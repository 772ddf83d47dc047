import { describe, expect, test } from '@jest/globals';
import type { Stores } from '../../stores.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

export function limitsContract(contract: () => Contract): void {
  describe('limits', () => {
    test('RFC 6585 section 4: after the burst a spend is refused with the seconds to wait', async () => {
      const { one, other } = contract();
      const key = fresh();
      const rate = { burst: 3, per: 600 };
      for (let n = 0; n < rate.burst; n++) {
        const spent = await (n % 2 === 0 ? one : other).limits.spend('sign-in-name', key, rate);
        expect(spent).toEqual({ ok: true, remaining: 2 - n, reset: expect.any(Number) });
        if (!spent.ok) return;
        expect(Number.isInteger(spent.reset)).toBe(true);
        expect(spent.reset).toBeGreaterThan((n + 1) * 600 - 10);
        expect(spent.reset).toBeLessThanOrEqual((n + 1) * 600);
      }
      const refused = await other.limits.spend('sign-in-name', key, rate);
      expect(refused).toEqual({ ok: false, retryAfter: expect.any(Number) });
      if (refused.ok) return;
      expect(Number.isInteger(refused.retryAfter)).toBe(true);
      expect(refused.retryAfter).toBeGreaterThan(590);
      expect(refused.retryAfter).toBeLessThanOrEqual(600);
    });

    test('a refused use costs nothing: repeated attempts do not lengthen the wait', async () => {
      const { one } = contract();
      const key = fresh();
      const rate = { burst: 1, per: 600 };
      await one.limits.spend('sign-in-name', key, rate);
      for (let n = 0; n < 20; n++) {
        const refused = await one.limits.spend('sign-in-name', key, rate);
        expect(refused.ok ? 0 : refused.retryAfter).toBeLessThanOrEqual(600);
        expect(refused.ok).toBe(false);
      }
    });

    test('the remaining uses count down, and are the burst again after a rest', async () => {
      const { one, store } = contract();
      const key = fresh();
      const rate = { burst: 5, per: 100 };
      const remaining = async () => {
        const spent = await one.limits.spend('sign-in-name', key, rate);
        return spent.ok ? spent.remaining : 'none';
      };
      expect([await remaining(), await remaining(), await remaining()]).toEqual([4, 3, 2]);
      await store.passSeconds(100_000);
      for (const expected of [4, 3, 2, 1, 0, 'none']) expect(await remaining()).toBe(expected);
    });

    test.each([0.0001, 0.01, 0.333])(
      'reset is at least 1 s, even if a bucket of one use is full again after %d s',
      async (per) => {
        const { one } = contract();
        const rate = { burst: 1, per };
        expect(await one.limits.spend('sign-in-name', fresh(), rate)).toEqual({
          ok: true,
          remaining: 0,
          reset: 1,
        });
      },
    );

    test('retryAfter is at least 1 s, however short the wait', async () => {
      const { one } = contract();
      const key = fresh();
      const rate = { burst: 1, per: 0.9 };
      await one.limits.spend('sign-in-name', key, rate);
      const second = await one.limits.spend('sign-in-name', key, rate);
      if (!second.ok) expect(second.retryAfter).toBe(1);
    });

    test('an unused bucket becomes full again, and no fuller', async () => {
      const { one, store } = contract();
      const key = fresh();
      const rate = { burst: 4, per: 100 };
      const spendAll = async () => {
        let granted = 0;
        while (granted < 10 && (await one.limits.spend('sign-in-name', key, rate)).ok) granted++;
        return granted;
      };
      expect(await spendAll()).toBe(4);
      await store.passSeconds(10_000);
      expect(await spendAll()).toBe(4);
    });

    test('the wait is at most the time in which an empty bucket gets one use, even after another rate', async () => {
      const { one, store } = contract();
      const key = fresh();
      const hourly = { burst: 5, per: 3_600 };
      while ((await one.limits.spend('sign-in-name', key, hourly)).ok);
      const rate = { burst: 2, per: 2 };
      expect(await one.limits.spend('sign-in-name', key, rate)).toEqual({
        ok: false,
        retryAfter: 2,
      });
      await store.passSeconds(100);
      expect(await one.limits.spend('sign-in-name', key, rate)).toMatchObject({
        ok: true,
        remaining: 1,
      });
    });

    test('a use that is given back can be taken again, and a bucket is never fuller than full', async () => {
      const { one, other, store } = contract();
      const key = fresh();
      const rate = { burst: 3, per: 600 };
      const spend = async () => (await one.limits.spend('sign-in-name', key, rate)).ok;
      const all = async () => [await spend(), await spend(), await spend(), await spend()];
      await other.limits.giveBack('sign-in-name', key, rate);
      expect(await all()).toEqual([true, true, true, false]);
      await other.limits.giveBack('sign-in-name', key, rate);
      expect([await spend(), await spend()]).toEqual([true, false]);
      for (let n = 0; n < 10; n++) await one.limits.giveBack('sign-in-name', key, rate);
      expect(await all()).toEqual([true, true, true, false]);
      await store.passSeconds(100_000);
      await one.limits.giveBack('sign-in-name', key, rate);
      expect(await all()).toEqual([true, true, true, false]);
    });

    test('ten callers that give their uses back never have more than the burst at a time', async () => {
      const { one, other } = contract();
      const key = fresh();
      const rate = { burst: 4, per: 600 };
      let [held, most, refused] = [0, 0, 0];
      const visit = async ({ limits }: Stores) => {
        if (!(await limits.spend('sign-in-name', key, rate)).ok) {
          refused += 1;
          return;
        }
        most = Math.max(most, (held += 1));
        await new Promise(setImmediate);
        held -= 1;
        await limits.giveBack('sign-in-name', key, rate);
      };
      for (let round = 0; round < 5; round += 1) {
        await Promise.all(Array.from({ length: 10 }, (_, n) => visit(n % 2 ? one : other)));
      }
      expect(most).toBeLessThanOrEqual(rate.burst);
      expect(most + refused).toBeGreaterThanOrEqual(rate.burst);
      for (let n = 0; n < rate.burst; n++) {
        expect((await one.limits.spend('sign-in-name', key, rate)).ok).toBe(true);
      }
      expect((await one.limits.spend('sign-in-name', key, rate)).ok).toBe(false);
    });

    test('each namespace and key has its own bucket', async () => {
      const { one } = contract();
      const tail = fresh();
      const rate = { burst: 1, per: 600 };
      for (const [namespace, key] of [
        ['visits-account', tail],
        ['visits', `account${tail}`],
        ['visits', `account:${tail}`],
        ['visits', `-account${tail}`],
        ['visits', `-account:${tail}`],
        ['visits', `-account\u0000${tail}`],
      ] as const) {
        expect((await one.limits.spend(namespace, key, rate)).ok).toBe(true);
        expect((await one.limits.spend(namespace, key, rate)).ok).toBe(false);
      }
    });

    test('several uses, or all remaining ones, can be taken in one call, and be given back', async () => {
      const { one, other, store } = contract();
      const key = fresh();
      const rate = { burst: 100, per: 10 };
      const take = ({ limits }: Stores, amount: number) =>
        limits.take('whole-trees', key, rate, amount);
      expect([await take(one, 30), await take(other, 1), await take(one, 60)]).toEqual([70, 69, 9]);
      expect([await take(other, 60), await take(one, 1)]).toEqual([0, 0]);
      await store.passSeconds(1_100);
      expect(await take(other, 5)).toBe(95);
      expect(await one.limits.take('all-whole-trees', key, rate, 1)).toBe(99);
    });
  });
}
