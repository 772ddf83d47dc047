import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { shifted } from '../racing/races.ts';
import { fresh, onceFor } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

export function proofsContract(contract: () => Contract): void {
  describe('proofs', () => {
    const spend = (key: string, through: 'one' | 'other' = 'one', seconds = 60) =>
      contract()[through].proofs.spend('dpop', key, onceFor(seconds));

    test('RFC 9449 section 11.1: a jti is accepted once in all, also through two connections of the store', async () => {
      const jti = fresh();
      expect(await spend(jti)).toBe('first');
      expect(await spend(jti)).toBe('used');
      expect(await spend(jti, 'other')).toBe('used');
    });

    test('if a key is used fifty times at once through two connections, one use is accepted', async () => {
      const jti = fresh();
      const all = await Promise.all(
        Array.from({ length: 50 }, (_, n) => spend(jti, n % 2 === 0 ? 'one' : 'other')),
      );
      expect(all.filter((use) => use === 'first')).toHaveLength(1);
      expect(all.filter((use) => use === 'used')).toHaveLength(49);
    });

    test('a replay does not extend the time for which a used jti is refused', async () => {
      const { store } = contract();
      const jti = fresh();
      expect(await spend(jti)).toBe('first');
      await store.passSeconds(40);
      expect(await spend(jti, 'other', 600)).toBe('used');
      await store.passSeconds(40);
      expect(await spend(jti)).toBe('first');
      expect(await spend(jti)).toBe('used');
    });

    test('moving characters from the namespace to the key gives another key', async () => {
      const { proofs } = contract().one;
      const tail = fresh();
      expect(await proofs.spend('dpop', tail, onceFor(60))).toBe('first');
      expect(await proofs.spend('hoba', tail, onceFor(60))).toBe('first');
      for (const [namespace, key] of shifted(tail)) {
        expect(await proofs.spend('dpop', `${namespace} ${key}`, onceFor(60))).toBe('first');
      }
    });

    test('any key, however odd or long, is accepted once', async () => {
      const seen = new Set<string>();
      const key = fc.oneof(
        anyText({ maxLength: 200 }),
        fc.string().map((text) => text.repeat(5_000)),
      );
      await fc.assert(
        fc.asyncProperty(key, async (value) => {
          expect(await spend(value)).toBe(seen.has(value) ? 'used' : 'first');
          expect(await spend(value, 'other')).toBe('used');
          seen.add(value);
        }),
        { numRuns: 50 },
      );
    });
  });
}
