import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import type { SecondFactorRecord, SecondFactors } from '../../credentials/second-factors.ts';
import { SLICE } from '../../sql/rows.ts';
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
    /** Returns one or the other store in turn, for ten attempts at once. */
    const inTurn = (n: number) => (n % 2 === 0 ? contract().one : contract().other).secondFactors;
    const useOf = async ({ useRecovery }: SecondFactors, accountId: string, mac: string) =>
      (await useRecovery(accountId, mac, NOW)) !== undefined;
    const tenAtOnce = async (attempt: (n: number) => Promise<boolean>) => {
      const outcomes = await Promise.all(Array.from({ length: ATTEMPTS }, (_, n) => attempt(n)));
      return outcomes.filter((done) => done).length;
    };

    test('any record is returned unchanged, is listed, and is not returned for other people', async () => {
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

    test('a person has one second factor: another is refused, and the first stays', async () => {
      const { one, other } = contract();
      const factor = await added();
      expect(await other.secondFactors.add({ ...factor, id: 'another' })).toBe(false);
      expect(await one.secondFactors.get(factor.accountId)).toEqual(factor);
      const accountId = fresh();
      expect(await tenAtOnce((n) => inTurn(n).add({ ...factor, accountId, id: `${n}` }))).toBe(1);
    });

    test('a person with an unknown id, however odd, has no second factor in any operation', async () => {
      const { secondFactors } = contract().one;
      const { accountId, id } = await added();
      const before = await secondFactorsIn(contract().one);
      const odd = ['', '*', '__proto__', "' OR 1=1 --", '\u0000', 'x'.repeat(10_000)];
      for (const person of [...odd, `${accountId} `, accountId.slice(0, -1)]) {
        expect(await secondFactors.get(person)).toBeUndefined();
        expect(await secondFactors.useStep(person, id, 99, NOW)).toBe(false);
        expect(await secondFactors.useRecovery(person, 'mac 1', NOW)).toBeUndefined();
        const seen = { ...someSecondFactor(person), id };
        expect(await secondFactors.renewRecovery(seen, [])).toBe(false);
        const next = { factor: seen, replaces: id, generation: 0, until: NOW };
        expect(await secondFactors.setUp(next)).toBeUndefined();
        expect(await secondFactors.remove(person)).toBe(false);
      }
      expect(await secondFactorsIn(contract().one)).toEqual(before);
    });

    test('RFC 6238 section 5.2: a time step of TOTP works once, and then no earlier step works', async () => {
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

    test('if one time step is used ten times at once, one use succeeds', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { accountId, id } = await added();
        expect(await tenAtOnce((n) => inTurn(n).useStep(accountId, id, 9, NOW))).toBe(1);
      }
    });

    test('a time step of a removed second factor is refused after the next set-up', async () => {
      const { one, other } = contract();
      const earlier = await added();
      const { accountId, id } = earlier;
      await one.secondFactors.remove(accountId);
      const next = await added({ accountId, id: 'the next' });
      expect(await other.secondFactors.useStep(accountId, id, 99, NOW)).toBe(false);
      expect(await other.secondFactors.renewRecovery(earlier, ['x'])).toBe(false);
      expect(await other.secondFactors.remove(accountId, id)).toBe(false);
      expect(await one.secondFactors.get(accountId)).toEqual(next);
    });

    test('a recovery code works once; the others stay', async () => {
      const { one, other } = contract();
      const factor = await added({ recovery: ['a', 'b', 'c'] });
      const { accountId } = factor;
      expect(await other.secondFactors.useRecovery(accountId, 'b', NOW)).toBe(2);
      expect(await one.secondFactors.useRecovery(accountId, 'b', NOW)).toBeUndefined();
      expect(await one.secondFactors.useRecovery(accountId, 'B', NOW)).toBeUndefined();
      const after = { ...factor, recovery: ['a', 'c'], used_at: NOW };
      expect(await one.secondFactors.get(accountId)).toEqual(after);
    });

    test('if one recovery code is used ten times at once, one use succeeds', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { accountId } = await added({ recovery: ['a', 'b'] });
        expect(await tenAtOnce((n) => useOf(inTurn(n), accountId, 'a'))).toBe(1);
        expect(await contract().one.secondFactors.get(accountId)).toMatchObject({
          recovery: ['b'],
        });
      }
    });

    test('if ten recovery codes and ten time steps are used at once, no change is lost', async () => {
      const recovery = Array.from({ length: ATTEMPTS }, (_, n) => `code ${n}`);
      const { accountId, id } = await added({ recovery, step: 0 });
      const [codes] = await Promise.all([
        tenAtOnce((n) => useOf(inTurn(n), accountId, `code ${n}`)),
        tenAtOnce((n) => inTurn(n + 1).useStep(accountId, id, n + 1, NOW)),
      ]);
      expect(codes).toBe(ATTEMPTS);
      const after = await contract().other.secondFactors.get(accountId);
      expect(after).toMatchObject({ recovery: [], step: ATTEMPTS });
    });

    test('new recovery codes replace all others', async () => {
      const { one, other } = contract();
      const factor = await added({ recovery: ['a'] });
      const { accountId } = factor;
      expect(await other.secondFactors.renewRecovery(factor, ['c', 'd'])).toBe(true);
      expect(await one.secondFactors.useRecovery(accountId, 'a', NOW)).toBeUndefined();
      const after = { ...factor, recovery: ['c', 'd'] };
      expect(await one.secondFactors.get(accountId)).toEqual(after);
    });

    test('if ten callers renew the codes at once, one succeeds, and its codes work', async () => {
      for (let round = 0; round < 5; round += 1) {
        const seen = await added({ recovery: ['a', 'b'] });
        const codes = Array.from({ length: ATTEMPTS }, (_, n) => [`code ${round} ${n}`]);
        const outcomes = await Promise.all(
          codes.map((macs, n) => inTurn(n).renewRecovery(seen, macs)),
        );
        expect(outcomes.filter((done) => done)).toHaveLength(1);
        const kept = await contract().one.secondFactors.get(seen.accountId);
        expect(kept?.recovery).toEqual(codes[outcomes.indexOf(true)]);
      }
    });

    test('codes are not renewed if one was used meanwhile', async () => {
      const { one, other } = contract();
      const seen = await added({ recovery: ['a', 'b'] });
      await other.secondFactors.useRecovery(seen.accountId, 'a', NOW);
      expect(await one.secondFactors.renewRecovery(seen, ['c'])).toBe(false);
      expect((await one.secondFactors.get(seen.accountId))?.recovery).toEqual(['b']);
    });

    describe('setting up a second factor', () => {
      const until = NOW + 1e12;
      const generationOf = (accountId: string) =>
        contract().other.revocations.generation('person', accountId);

      test('a set-up stores the factor and raises the generation, which followers see', async () => {
        const { one, other } = contract();
        await one.revocations.epoch(true);
        const factor = someSecondFactor(fresh());
        const { accountId } = factor;
        await using feed = await other.revocations.feed();
        expect(await one.secondFactors.setUp({ factor, generation: 0, until })).toBe(1);
        expect(await other.secondFactors.get(accountId)).toEqual(factor);
        expect(await secondFactorsIn(other)).toContainEqual(factor);
        expect(await generationOf(accountId)).toBe(1);
        expect((await feed.latest()).generation(accountId)).toBe(1);
      });

      test('a set-up replaces the second factor that it names, and no other', async () => {
        const { one, other } = contract();
        const before = await added();
        const { accountId } = before;
        const factor = { ...someSecondFactor(accountId), id: 'the next', sealed: 'another' };
        const wrong = [{}, { replaces: 'another' }, { replaces: '' }, { replaces: '__proto__' }];
        for (const replaces of wrong) {
          const next = { factor, ...replaces, generation: 0, until };
          expect(await one.secondFactors.setUp(next)).toBeUndefined();
        }
        expect(await other.secondFactors.get(accountId)).toEqual(before);
        expect(await generationOf(accountId)).toBe(0);
        const next = { factor, replaces: before.id, generation: 0, until };
        expect(await one.secondFactors.setUp(next)).toBe(1);
        expect(await other.secondFactors.get(accountId)).toEqual(factor);
        expect(await one.secondFactors.remove(accountId, before.id)).toBe(false);
        expect(await one.secondFactors.remove(accountId, 'the next')).toBe(true);
      });

      test('a set-up with an earlier or a later generation changes nothing', async () => {
        const { one, other } = contract();
        const factor = someSecondFactor(fresh());
        const { accountId } = factor;
        await other.revocations.raise('person', accountId, until);
        for (const generation of [0, 2, -1]) {
          expect(await one.secondFactors.setUp({ factor, generation, until })).toBeUndefined();
        }
        expect(await other.secondFactors.get(accountId)).toBeUndefined();
        expect(await generationOf(accountId)).toBe(1);
      });

      test.each(['no factor', 'a factor that they replace'])(
        'if ten set-ups run at once, starting from %s, one succeeds',
        async (what) => {
          for (let round = 0; round < 5; round += 1) {
            const before = what === 'no factor' ? undefined : await added();
            const accountId = before?.accountId ?? fresh();
            const replaces = before && { replaces: before.id };
            const outcomes = await Promise.all(
              Array.from({ length: ATTEMPTS }, (_, n) => {
                const factor = { ...someSecondFactor(accountId), id: `next ${n}` };
                return inTurn(n).setUp({ factor, ...replaces, generation: 0, until });
              }),
            );
            expect(outcomes.filter((raised) => raised !== undefined)).toEqual([1]);
            const kept = await contract().one.secondFactors.get(accountId);
            expect(kept?.id).toBe(`next ${outcomes.indexOf(1)}`);
            expect(await generationOf(accountId)).toBe(1);
          }
        },
      );

      test('the new second factor has no change of codes that are used during the set-up', async () => {
        const before = await added({ recovery: ['a', 'b', 'c'] });
        const { accountId, id } = before;
        const factor = { ...someSecondFactor(accountId), id: 'the next' };
        await Promise.all([
          contract().one.secondFactors.setUp({ factor, replaces: id, generation: 0, until }),
          ...['a', 'b', 'c'].map((mac, n) => useOf(inTurn(n), accountId, mac)),
          ...[9, 10, 11].map((step, n) => inTurn(n).useStep(accountId, id, step, NOW)),
        ]);
        expect(await contract().other.secondFactors.get(accountId)).toEqual(factor);
      });
    });

    test('a list in slices has each record once, even if records are added meanwhile', async () => {
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

    test('a second factor that is used and removed at once stays removed', async () => {
      for (let round = 0; round < 10; round += 1) {
        const recovery = Array.from({ length: ATTEMPTS }, (_, n) => `code ${n}`);
        const { accountId, id } = await added({ recovery });
        await Promise.all([
          contract().other.secondFactors.remove(accountId),
          tenAtOnce((n) => useOf(inTurn(n), accountId, `code ${n}`)),
          tenAtOnce((n) => inTurn(n).useStep(accountId, id, 9 + n, NOW)),
        ]);
        expect(await contract().one.secondFactors.get(accountId)).toBeUndefined();
      }
    });

    test('a record stays until it is removed, and then leaves no row', async () => {
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
