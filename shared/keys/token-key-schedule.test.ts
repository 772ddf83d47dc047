import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { StoredTokenKey } from '#shared/stores/keys/token-keys.ts';
import { nextNotBefore, scheduleTokenKeys } from './token-key-schedule.ts';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';

const TIMES = { rotation: 1000, overlap: 500, maxAge: 100 };
const EPOCH = 'now';

const key = (
  id: string,
  notBefore: number,
  more: Partial<StoredTokenKey> = {},
): StoredTokenKey => ({
  type: VOPRF,
  id,
  publicKey: id,
  sealed: 'sealed',
  notBefore: notBefore * 1000,
  until: (notBefore + TIMES.rotation + TIMES.overlap) * 1000,
  epoch: EPOCH,
  ...more,
});

/** Returns the state of each key at `now`, in seconds. */
const at = (now: number, ...keys: readonly StoredTokenKey[]) =>
  scheduleTokenKeys(keys, EPOCH, TIMES, now * 1000).map(
    ({ key: { id }, state, until }) => `${id} ${state} ${until / 1000}`,
  );

describe('RFC 9578 section 4: the rows and the clock decide what a key does', () => {
  test('a key is valid from its begin until rotation plus overlap, with a successor or without', () => {
    const a = key('a', 0);
    expect(at(-1, a)).toEqual(['a published 1500']);
    expect(at(0, a)).toEqual(['a issuing 1500']);
    expect(at(1499.999, a)).toEqual(['a issuing 1500']);
    expect(at(1500, a)).toEqual(['a retired 1500']);
    const late = key('late', 1400);
    expect(at(1499, a, late)).toEqual(['a retiring 1500', 'late issuing 2900']);
    expect(at(1500, a, late)).toEqual(['a retired 1500', 'late issuing 2900']);
  });

  test('a successor is published, and then issues', () => {
    const keys = [key('a', 0), key('b', 1000)];
    expect(at(999.999, ...keys)).toEqual(['a issuing 1500', 'b published 2500']);
    expect(at(1000, ...keys)).toEqual(['a retiring 1500', 'b issuing 2500']);
  });

  test('a key ends earlier if its successor comes early', () => {
    const keys = [key('a', 0), key('b', 200), key('c', 300)];
    expect(at(299, ...keys)).toEqual(['a retiring 700', 'b issuing 800', 'c published 1800']);
    expect(at(700, ...keys)).toEqual(['a retired 700', 'b retiring 800', 'c issuing 1800']);
  });

  test('the end of a key stays as it was when it was made, even if the configured life changes', () => {
    const a = key('a', 0, { until: 1_200_000 });
    expect(at(1199, a)).toEqual(['a issuing 1200']);
    expect(at(1200, a, key('b', 1000))).toEqual(['a retired 1200', 'b issuing 2500']);
  });

  test('keys of the other type are no successors', () => {
    const keys = [key('a', 0), key('b', 100, { type: BLIND_RSA })];
    expect(at(200, ...keys)).toEqual(['a issuing 1500', 'b issuing 1600']);
  });

  test('a key of another epoch, or without its private part, is retired and succeeds no key', () => {
    const keys = [key('a', 0), key('b', 100, { epoch: 'other' })];
    expect(at(200, ...keys)).toEqual(['a issuing 1500', 'b retired 1600']);
    const { sealed: _, ...bare } = key('a', 0);
    expect(at(1, bare)).toEqual(['a retired 1500']);
  });
});

describe('when the next key begins', () => {
  const next = (now: number, ...keys: readonly StoredTokenKey[]) =>
    nextNotBefore(scheduleTokenKeys(keys, EPOCH, TIMES, now * 1000), TIMES, now * 1000);

  test('without a valid key the next key begins at once, in whole seconds', () => {
    expect(next(7.9)).toBe(7000);
    expect(next(2000.5, key('a', 0))).toBe(2_000_000);
    expect(next(5, key('a', 0, { epoch: 'other' }))).toBe(5000);
  });

  test('the next key begins a rotation after the last one, and is made maxAge earlier', () => {
    expect(next(899.999, key('a', 0))).toBeUndefined();
    expect(next(900, key('a', 0))).toBe(1_000_000);
    expect(next(999.5, key('a', 0))).toBe(1_000_000);
    expect(next(900, key('a', 0), key('b', 1000))).toBeUndefined();
  });

  test('the next key begins at once if its time has passed', () => {
    expect(next(1200.5, key('a', 0))).toBe(1_200_000);
  });
});

test('at most one key issues, and no key is valid after its time, for any rows', () => {
  const rows = fc.array(
    fc.record({
      notBefore: fc.integer({ min: 0, max: 5000 }),
      epoch: fc.constantFrom(EPOCH, 'other'),
      open: fc.boolean(),
    }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(rows, fc.integer({ min: 0, max: 8000 }), (made, now) => {
      const keys = made
        .toSorted((a, b) => a.notBefore - b.notBefore)
        .map(({ notBefore, epoch, open }, index) => {
          const row = key(String(index), notBefore, { epoch });
          const { sealed: _, ...closed } = row;
          return open ? row : closed;
        });
      const scheduled = scheduleTokenKeys(keys, EPOCH, TIMES, now * 1000);
      const issuing = scheduled.filter(({ state }) => state === 'issuing');
      expect(issuing.length).toBeLessThanOrEqual(1);
      for (const { key: one, state, until } of scheduled) {
        const last = one.notBefore + (TIMES.rotation + TIMES.overlap) * 1000;
        expect(until).toBeLessThanOrEqual(last);
        if (state === 'retired') continue;
        expect([one.epoch, one.sealed, until > now * 1000]).toEqual([EPOCH, 'sealed', true]);
      }
    }),
  );
});
