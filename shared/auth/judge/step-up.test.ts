import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { ACRS } from '#shared/jose/acr.ts';
import type { AuthenticationEvent, Principal } from '../scheme.ts';
import { type AuthenticationRule, createStepUp, inWords, neededFor } from './step-up.ts';

const [, PASSWORD, SECOND_FACTOR, PASSKEY] = ACRS;
const SKEW = 5;

/** Returns the sign-in that a person with the given sign-in lacks, at a second of the clock. */
function lacked(
  rules: readonly AuthenticationRule[],
  authentication: AuthenticationEvent | undefined,
  { method = 'GET', now = 1000 } = {},
) {
  const stepUp = createStepUp(rules, { clock: new ManualClock(now * 1000), skew: SKEW });
  const person: Principal = { kind: 'person', realm: 'r', name: 'alice' };
  return stepUp(method, authentication ? { ...person, authentication } : person);
}

describe('acr', () => {
  test.each([
    ['passkey', PASSKEY, true],
    ['passkey', SECOND_FACTOR, false],
    ['passkey', PASSWORD, false],
    ['second-factor', PASSKEY, true],
    ['second-factor', SECOND_FACTOR, true],
    ['second-factor', PASSWORD, false],
  ] as const)('if %s is required, the value %s gives %s', (acr, shown, met) => {
    expect(lacked([{ acr }], { acr: shown }) === undefined).toBe(met);
  });

  test.each(['', 'passkey', `${PASSKEY} `, `${PASSWORD} ${PASSKEY}`, PASSKEY.toUpperCase(), '0'])(
    'an unknown acr never satisfies a rule: %j',
    (acr) => expect(lacked([{ acr: 'second-factor' }], { acr })).toBeDefined(),
  );

  test('a missing acr never satisfies a rule', () => {
    expect(lacked([{ acr: 'second-factor' }], {})).toBeDefined();
    expect(lacked([{ acr: 'second-factor' }], undefined)).toBeDefined();
  });

  test('the challenge lists all sufficient values of acr, the weakest first', () => {
    expect(lacked([{ acr: 'second-factor' }], {})).toEqual({ acrValues: [SECOND_FACTOR, PASSKEY] });
    expect(lacked([{ acr: 'passkey' }], {})).toEqual({ acrValues: [PASSKEY] });
  });
});

describe('maxAge', () => {
  const rule = [{ maxAge: 300 }];

  test.each([
    [1000, true],
    [700, true],
    [695, true],
    [694, false],
    [0, false],
    [-1, false],
    [1005, true],
    [1006, false],
    [9e15, false],
    [Infinity, false],
    [NaN, false],
  ])('a sign-in at %d and a request at 1000: %s', (authTime, met) => {
    expect(lacked(rule, { authTime }) === undefined).toBe(met);
  });

  test('a missing time of the sign-in never satisfies maxAge', () => {
    expect(lacked(rule, { acr: PASSKEY })).toEqual({ maxAge: 300 });
  });

  test('acr and maxAge must both be met, and the challenge names both', () => {
    const both = [{ acr: 'passkey', maxAge: 300 }] as const;
    const asked = { acrValues: [PASSKEY], maxAge: 300 };
    expect(lacked(both, { acr: PASSKEY, authTime: 1000 })).toBeUndefined();
    expect(lacked(both, { acr: PASSKEY, authTime: 1 })).toEqual(asked);
    expect(lacked(both, { acr: PASSWORD, authTime: 1000 })).toEqual(asked);
  });
});

describe('the methods of a rule', () => {
  const RULES = [
    { acr: 'second-factor', methods: ['unsafe'] },
    { acr: 'passkey', methods: ['DELETE'] },
    { maxAge: 600, methods: ['DELETE', 'GET'] },
  ] as const;

  test.each([
    ['GET', { maxAge: 600 }],
    ['HEAD', { maxAge: 600 }],
    ['QUERY', undefined],
    ['PUT', { acrValues: [SECOND_FACTOR, PASSKEY] }],
    ['MOVE', { acrValues: [SECOND_FACTOR, PASSKEY] }],
    ['FROBNICATE', { acrValues: [SECOND_FACTOR, PASSKEY] }],
    ['DELETE', { acrValues: [PASSKEY], maxAge: 600 }],
    ['WEBSOCKET', { acrValues: [SECOND_FACTOR, PASSKEY], maxAge: 600 }],
  ])('%s needs %j', (method, needed) => expect(neededFor(RULES, method)).toEqual(needed));

  test('a second rule never admits more requests: the highest level and the shortest time apply', () => {
    const rules = [
      { acr: 'passkey', maxAge: 60 },
      { acr: 'second-factor', maxAge: 600 },
    ] as const;
    for (const some of [rules, rules.toReversed()]) {
      expect(neededFor(some, 'GET')).toEqual({ acrValues: [PASSKEY], maxAge: 60 });
    }
  });

  test('a rule without methods applies to every method', () => {
    expect(neededFor([{ maxAge: 60 }], 'BREW')).toEqual({ maxAge: 60 });
  });
});

test.each([
  [{ acrValues: [PASSKEY] }, 'a sign-in with a passkey'],
  [{ acrValues: [SECOND_FACTOR, PASSKEY] }, 'a sign-in with a second factor or a passkey'],
  [{ maxAge: 60 }, 'a sign-in at most 60 seconds ago'],
  [{ acrValues: [PASSKEY], maxAge: 60 }, 'a sign-in with a passkey at most 60 seconds ago'],
])('the sign-in %j is described in words', (needed, words) => expect(inWords(needed)).toBe(words));
