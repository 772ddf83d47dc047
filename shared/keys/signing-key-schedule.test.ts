import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { StoredKey } from '#shared/stores/keys/keys.ts';
import { scheduleKeys } from './signing-key-schedule.ts';

const LIFE = 600;
const key = (kid: string, signsFrom: number, alg: StoredKey['alg'] = 'ES256'): StoredKey => ({
  kid,
  alg,
  publicJwk: {},
  sealed: '',
  publishedAt: 0,
  signsFrom,
});
const states = (keys: StoredKey[], now: number) =>
  scheduleKeys(keys, now, LIFE).map(({ key: { kid }, state }) => `${kid} ${state}`);

describe('rotation: publish, sign after the overlap, retire after the longest token life', () => {
  const keys = [key('new', 1000), key('old', 0)];

  test.each([
    [0, ['old signing', 'new published']],
    [999, ['old signing', 'new published']],
    [1000, ['old retiring', 'new signing']],
    [1599, ['old retiring', 'new signing']],
    [1600, ['old retired', 'new signing']],
  ])('at %d', (now, expected) => expect(states(keys, now)).toEqual(expected));

  test('each alg has its own succession of keys', () => {
    expect(states([key('ec', 0), key('rsa', 500, 'RS256')], 2000)).toEqual([
      'ec signing',
      'rsa signing',
    ]);
  });

  test('exactly one key of an alg signs at any moment after the first one has begun', () => {
    const starts = fc.uniqueArray(fc.integer({ min: 0, max: 5000 }), { minLength: 1 });
    fc.assert(
      fc.property(starts, fc.integer({ min: 0, max: 9000 }), (times, now) => {
        const all = scheduleKeys(
          times.map((time) => key(`k${time}`, time)),
          now,
          LIFE,
        );
        const signing = all.filter(({ state }) => state === 'signing');
        expect(signing).toHaveLength(Math.min(...times) <= now ? 1 : 0);
      }),
    );
  });
});
