import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { systemRandom } from '#shared/base/random.ts';
import type { Contract } from '../store-under-test.ts';

const someToken = (): Buffer => systemRandom(66);

export function spentTokensContract(contract: () => Contract): void {
  describe('spent tokens', () => {
    const inSeconds = (seconds: number) => contract().store.clock.now() + seconds * 1000;
    const spend = (token: Uint8Array, seconds = 600, through: 'one' | 'other' = 'one') =>
      contract()[through].spentTokens.spend(token, inSeconds(seconds));

    test('RFC 9577 section 2.2: a token is spent once in all, also through two connections of the store', async () => {
      const token = someToken();
      expect(await spend(token)).toBe(true);
      expect(await spend(token)).toBe(false);
      expect(await spend(token, 600, 'other')).toBe(false);
      expect(await spend(Buffer.from(token), 9000, 'other')).toBe(false);
    });

    test('RFC 9577 section 2.2: a token that is sent fifty times at once through two connections is spent once', async () => {
      const token = someToken();
      const won = await Promise.all(
        Array.from({ length: 50 }, (_, n) => spend(token, 600, n % 2 === 0 ? 'one' : 'other')),
      );
      expect(won.filter(Boolean)).toEqual([true]);
    });

    test('fifty tokens that are sent ten times each at once are spent once each', async () => {
      const tokens = Array.from({ length: 50 }, someToken);
      const attempts = Array.from({ length: 500 }, (_, n) => tokens[(n * 7) % 50] ?? someToken());
      const won = await Promise.all(
        attempts.map((token, n) => spend(token, 600, n % 3 === 0 ? 'one' : 'other')),
      );
      const spent = attempts.filter((_, n) => won[n]);
      expect(new Set(spent)).toEqual(new Set(tokens));
      expect(spent).toHaveLength(50);
    });

    test('tokens that differ in one bit or in length are different', async () => {
      const token = someToken();
      expect(await spend(token)).toBe(true);
      for (let octet = 0; octet < token.length; octet++) {
        const other = Buffer.from(token);
        other[octet] = (other[octet] ?? 0) ^ (1 << (octet % 8));
        expect([octet, await spend(other)]).toEqual([octet, true]);
      }
      const more = [token.subarray(1), token.subarray(0, -1), Buffer.concat([token, Buffer.of(0)])];
      for (const other of more) expect(await spend(other)).toBe(true);
      expect(await spend(token)).toBe(false);
    });

    test('a token in a part of a larger buffer is the same token', async () => {
      const pool = systemRandom(300);
      const view = new Uint8Array(pool.buffer, pool.byteOffset + 100, 66);
      expect(await spend(view)).toBe(true);
      expect(await spend(Buffer.from(view), 600, 'other')).toBe(false);
      expect(await spend(pool.subarray(0, 66))).toBe(true);
      expect(await spend(pool)).toBe(true);
    });

    test('the hash of a token is accepted as another token', async () => {
      const token = someToken();
      const hash = createHash('sha256').update(token).digest();
      expect(await spend(hash)).toBe(true);
      expect(await spend(token)).toBe(true);
    });

    test.each([0, -1, -600, -1_000_000])(
      'a token that expires in %d seconds is refused, and leaves no row',
      async (seconds) => {
        const { store } = contract();
        const token = someToken();
        const before = await store.countAll();
        for (const through of ['one', 'other'] as const) {
          expect(await spend(token, seconds, through)).toBe(false);
        }
        expect(await contract().one.spentTokens.spend(token, 0)).toBe(false);
        expect(await store.countAll()).toBe(before);
        expect(await spend(token)).toBe(true);
        expect(await spend(token, seconds)).toBe(false);
        expect(await spend(token, 600, 'other')).toBe(false);
      },
    );

    test.each([Number.NaN, Infinity])(
      'a token with the expiry %d, which is no time, is refused',
      async (until) => {
        const { one } = contract();
        await expect(one.spentTokens.spend(someToken(), until)).rejects.toThrow();
      },
    );

    test('the expiry of a token may have a fraction of a millisecond', async () => {
      const { one, other, store } = contract();
      const token = someToken();
      expect(await one.spentTokens.spend(token, store.clock.now() + 600_000.25)).toBe(true);
      expect(await other.spentTokens.spend(token, store.clock.now() + 600_000.75)).toBe(false);
    });

    test('further attempts do not change the expiry of a spent token; its row is swept then', async () => {
      const { one, store } = contract();
      const token = someToken();
      while ((await one.sweep()) > 0);
      const before = await store.countAll();
      expect(await spend(token, 60)).toBe(true);
      expect(await spend(token, 6000)).toBe(false);
      expect(await spend(token, 1)).toBe(false);
      await store.passSeconds(40);
      while ((await one.sweep()) > 0);
      expect(await spend(token, 600)).toBe(false);
      await store.passSeconds(40);
      while ((await one.sweep()) > 0);
      expect(await store.countAll()).toBeLessThanOrEqual(before);
    });

    test('a spent token stays spent until its expiry, in any order of events', async () => {
      const step = fc.oneof(
        {
          weight: 6,
          arbitrary: fc.record({
            token: fc.integer({ min: 0, max: 3 }),
            // The time that passes is never close to a lifetime, so that the result is certain.
            seconds: fc.constantFrom(-50, 50, 150, 250, 1050),
            through: fc.constantFrom('one' as const, 'other' as const),
          }),
        },
        { weight: 2, arbitrary: fc.constantFrom('sweep' as const, 'pass' as const) },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
          const { one, store } = contract();
          const tokens = Array.from({ length: 4 }, someToken);
          const spentUntil = new Map<number, number>();
          for (const what of steps) {
            if (what === 'sweep') await one.sweep();
            else if (what === 'pass') await store.passSeconds(100);
            else {
              const { token, seconds, through } = what;
              const good = seconds > 0 && (spentUntil.get(token) ?? 0) <= store.clock.now();
              expect(await spend(tokens[token] ?? someToken(), seconds, through)).toBe(good);
              if (good) spentUntil.set(token, inSeconds(seconds));
            }
          }
        }),
        { numRuns: 25 },
      );
    });
  });
}
