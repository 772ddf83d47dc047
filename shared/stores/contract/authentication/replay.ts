import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { shifted } from '../racing/races.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

export function replayContract(contract: () => Contract): void {
  describe('replay', () => {
    test('RFC 9449 section 11.1: a jti is accepted once in all, also through two connections of the store', async () => {
      const { one, other } = contract();
      const jti = fresh();
      expect(await one.replay.seen('dpop', jti)).toBe(false);
      expect(await one.replay.unique('dpop', jti, 60)).toBe(true);
      expect(await other.replay.seen('dpop', jti)).toBe(true);
      expect(await one.replay.seen('other', jti)).toBe(false);
      expect(await one.replay.unique('dpop', jti, 60)).toBe(false);
      expect(await other.replay.unique('dpop', jti, 60)).toBe(false);
    });

    test('a replay does not extend the time for which a used jti is refused', async () => {
      const { one, store } = contract();
      const jti = fresh();
      expect(await one.replay.unique('dpop', jti, 60)).toBe(true);
      await store.passSeconds(40);
      expect(await one.replay.unique('dpop', jti, 60)).toBe(false);
      await store.passSeconds(40);
      expect(await one.replay.seen('dpop', jti)).toBe(false);
      expect(await one.replay.unique('dpop', jti, 60)).toBe(true);
      expect(await one.replay.unique('dpop', jti, 60)).toBe(false);
    });

    test('moving characters from the namespace to the key gives another key', async () => {
      const { one } = contract();
      for (const [namespace, key] of shifted(fresh())) {
        expect(await one.replay.unique(namespace, key, 60)).toBe(true);
      }
    });

    test('any key, however odd or long, is accepted once', async () => {
      const { one, other } = contract();
      const seen = new Set<string>();
      const key = fc.oneof(
        anyText({ maxLength: 200 }),
        fc.string().map((s) => s.repeat(5_000)),
      );
      const namespace = fresh();
      await fc.assert(
        fc.asyncProperty(key, async (value) => {
          expect(await one.replay.unique(namespace, value, 60)).toBe(!seen.has(value));
          expect(await other.replay.unique(namespace, value, 60)).toBe(false);
          seen.add(value);
        }),
        { numRuns: 50 },
      );
    });
  });
}
