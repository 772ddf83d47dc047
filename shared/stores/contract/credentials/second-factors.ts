import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import type { SecondFactorRecord } from '../../credentials/second-factors.ts';
import { SLICE } from '../../people/slices.ts';
import { fresh, secondFactorsIn, someSecondFactor } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

const NOW = 1_800_000_000_000;
const ATTEMPTS = 10;

export function secondFactorsContract(contract: () => Contract): void {
  describe('second factors', () => {
    const added = async (changes: Partial<SecondFactorRecord> = {}) => {
      const factor = { ...someSecondFactor(fresh()), ...changes };
      expect(await contract().one.secondFactors.add(factor)).toBe(true);
      return factor;
    };
    /** The stores by turns, for ten attempts at once. */
    const inTurn = (n: number) => (n % 2 === 0 ? contract().one : contract().other).secondFactors;
    const tenAtOnce = async (attempt: (n: number) => Promise<boolean>) => {
      const outcomes = await Promise.all(Array.from({ length: ATTEMPTS }, (_, n) => attempt(n)));
      return outcomes.filter((done) => done).length;
    };

    test('any record comes back as it was, is listed, and is kept from others', async () => {
      const { other } = contract();
      const text = anyText({ maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(text, text, text, fc.array(text), async (tail, id, sealed, recovery) => {
          const accountId = fresh() + tail;
          const factor = await added({ accountId, id, sealed, recovery, used_at: NOW });
          expect(await other.secondFactors.get(accountId)).toEqual(factor);
          expect(await other.secondFactors.get(`${accountId} `)).toBeUndefined();
          expect(await secondFactorsIn(other)).toContainEqual(factor);
        }),
        { numRuns: 20 },
      );
    });

    test('a person has one: another is refused, and the first stays', async () => {
      const { one, other } = contract();
      const factor = await added();
      expect(await other.secondFactors.add({ ...factor, id: 'another' })).toBe(false);
      expect(await one.secondFactors.get(factor.accountId)).toEqual(factor);
      const accountId = fresh();
      expect(await tenAtOnce((n) => inTurn(n).add({ ...factor, accountId, id: `${n}` }))).toBe(1);
    });

    test('an unknown person, however odd, has none, for every verb', async () => {
      const { secondFactors } = contract().one;
      const { accountId, id } = await added();
      const before = await secondFactorsIn(contract().one);
      const odd = ['', '*', '__proto__', "' OR 1=1 --", '\u0000', 'x'.repeat(10_000)];
      for (const person of [...odd, `${accountId} `, accountId.slice(0, -1)]) {
        expect(await secondFactors.get(person)).toBeUndefined();
        expect(await secondFactors.useStep(person, id, 99, NOW)).toBe(false);
        expect(await secondFactors.useRecovery(person, 'mac 1', NOW)).toBe(false);
        expect(await secondFactors.renewRecovery(person, id, [])).toBe(false);
        expect(await secondFactors.remove(person)).toBe(false);
      }
      expect(await secondFactorsIn(contract().one)).toEqual(before);
    });

    test('RFC 6238 section 5.2: a step works once, and none before it after that', async () => {
      const { one, other } = contract();
      const factor = await added({ step: 7 });
      const { accountId, id } = factor;
      expect(await other.secondFactors.useStep(accountId, id, 9, NOW)).toBe(true);
      for (const step of [9, 8, 7, 0, -1]) {
        expect(await one.secondFactors.useStep(accountId, id, step, NOW + 1)).toBe(false);
      }
      const after = { ...factor, step: 9, used_at: NOW };
      expect(await one.secondFactors.get(accountId)).toEqual(after);
      expect(await one.secondFactors.useStep(accountId, id, 10, NOW - 5)).toBe(true);
      expect(await other.secondFactors.get(accountId)).toEqual({ ...after, step: 10 });
    });

    test('ten uses of one step at once: one succeeds', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { accountId, id } = await added();
        expect(await tenAtOnce((n) => inTurn(n).useStep(accountId, id, 9, NOW))).toBe(1);
      }
    });

    test('a step of an earlier set-up is refused', async () => {
      const { one, other } = contract();
      const { accountId, id } = await added();
      await one.secondFactors.remove(accountId);
      const next = await added({ accountId, id: 'the next' });
      expect(await other.secondFactors.useStep(accountId, id, 99, NOW)).toBe(false);
      expect(await other.secondFactors.renewRecovery(accountId, id, ['x'])).toBe(false);
      expect(await one.secondFactors.get(accountId)).toEqual(next);
    });

    test('a recovery code works once; the others stay', async () => {
      const { one, other } = contract();
      const factor = await added({ recovery: ['a', 'b', 'c'] });
      const { accountId } = factor;
      expect(await other.secondFactors.useRecovery(accountId, 'b', NOW)).toBe(true);
      expect(await one.secondFactors.useRecovery(accountId, 'b', NOW)).toBe(false);
      expect(await one.secondFactors.useRecovery(accountId, 'B', NOW)).toBe(false);
      const after = { ...factor, recovery: ['a', 'c'], used_at: NOW };
      expect(await one.secondFactors.get(accountId)).toEqual(after);
    });

    test('ten uses of one recovery code at once: one succeeds', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { accountId } = await added({ recovery: ['a', 'b'] });
        expect(await tenAtOnce((n) => inTurn(n).useRecovery(accountId, 'a', NOW))).toBe(1);
        expect(await contract().one.secondFactors.get(accountId)).toMatchObject({
          recovery: ['b'],
        });
      }
    });

    test('ten recovery codes and ten steps at once: no change is lost', async () => {
      const recovery = Array.from({ length: ATTEMPTS }, (_, n) => `code ${n}`);
      const { accountId, id } = await added({ recovery, step: 0 });
      const [codes] = await Promise.all([
        tenAtOnce((n) => inTurn(n).useRecovery(accountId, `code ${n}`, NOW)),
        tenAtOnce((n) => inTurn(n + 1).useStep(accountId, id, n + 1, NOW)),
      ]);
      expect(codes).toBe(ATTEMPTS);
      const after = await contract().other.secondFactors.get(accountId);
      expect(after).toMatchObject({ recovery: [], step: ATTEMPTS });
    });

    test('new recovery codes take the place of all others', async () => {
      const { one, other } = contract();
      const factor = await added({ recovery: ['a'] });
      const { accountId, id } = factor;
      expect(await other.secondFactors.renewRecovery(accountId, id, ['c', 'd'])).toBe(true);
      expect(await one.secondFactors.useRecovery(accountId, 'a', NOW)).toBe(false);
      const after = { ...factor, recovery: ['c', 'd'] };
      expect(await one.secondFactors.get(accountId)).toEqual(after);
    });

    test('each is listed once, in slices, whatever is added meanwhile', async () => {
      const { one, other } = contract();
      const all = await Promise.all(Array.from({ length: SLICE + 3 }, () => added()));
      const mine = new Set(all.map(({ accountId }) => accountId));
      const found: string[] = [];
      for await (const slice of other.secondFactors.list()) {
        expect(slice.length).toBeLessThanOrEqual(SLICE);
        found.push(...slice.map(({ accountId }) => accountId));
        await one.secondFactors.add(someSecondFactor(fresh()));
      }
      expect(found.filter((id) => mine.has(id)).toSorted()).toEqual([...mine].toSorted());
      for (const accountId of mine) await one.secondFactors.remove(accountId);
    });

    test('used and removed at once: it is gone, and stays so', async () => {
      for (let round = 0; round < 10; round += 1) {
        const recovery = Array.from({ length: ATTEMPTS }, (_, n) => `code ${n}`);
        const { accountId, id } = await added({ recovery });
        await Promise.all([
          contract().other.secondFactors.remove(accountId),
          tenAtOnce((n) => inTurn(n).useRecovery(accountId, `code ${n}`, NOW)),
          tenAtOnce((n) => inTurn(n).useStep(accountId, id, 9 + n, NOW)),
        ]);
        expect(await contract().one.secondFactors.get(accountId)).toBeUndefined();
      }
    });

    test('it stays until it is removed, and then leaves nothing behind', async () => {
      const { one, store } = contract();
      await store.passSeconds(365 * 86_400);
      while ((await one.sweep()) > 0);
      const before = await store.countAll();
      const factor = await added();
      await store.passSeconds(365 * 86_400);
      while ((await one.sweep()) > 0);
      expect(await one.secondFactors.get(factor.accountId)).toEqual(factor);
      expect(await tenAtOnce((n) => inTurn(n).remove(factor.accountId))).toBe(1);
      expect(await secondFactorsIn(one)).not.toContainEqual(factor);
      expect(await store.countAll()).toBe(before);
    });
  });
}
