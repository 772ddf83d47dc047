import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { testPeople } from '../directory.fixture.ts';
import { readRecoveryCode, shownRecoveryCode } from './recovery-codes.ts';
import {
  newSecret,
  renewRecoveryCodes,
  setUpSecondFactor,
  useSecondFactor,
} from './second-factor.ts';
import { hotp, stepAt } from './totp.ts';

const SECRET = newSecret(systemRandom);
const MASTER = systemRandom(32);

/** alice has a second factor. */
async function withSecondFactor() {
  const { stores } = await testPeople();
  const clock = new ManualClock(1_800_000_015_000);
  const store = { stores, master: MASTER, clock, random: systemRandom };
  const code = (drift = 0, secret = SECRET) => hotp(secret, stepAt(clock.now()) + drift);
  const codes = await setUpSecondFactor(store, 'alice', SECRET, code(-1));
  if (typeof codes === 'string') throw new Error(codes);
  const use = (typed: string, accountId = 'alice') => useSecondFactor(store, accountId, typed);
  return { store, clock, code, codes, use };
}

describe('one-time codes', () => {
  test('the code of the set-up is used up by it; the next one works once, with any spaces', async () => {
    const { use, code } = await withSecondFactor();
    expect(await use(code(-1))).toBe(false);
    expect(await use(` ${code().slice(0, 3)} ${code().slice(3)} `)).toBe(true);
    expect(await use(code())).toBe(false);
  });

  test('after a code of a clock that is ahead, the code of now is used up, too', async () => {
    const { use, code } = await withSecondFactor();
    expect(await use(code(1))).toBe(true);
    expect(await use(code())).toBe(false);
    expect(await use(code(1))).toBe(false);
  });

  test('a clock that is two steps off, another secret and other texts are refused', async () => {
    const { use, code } = await withSecondFactor();
    const other = newSecret(systemRandom);
    for (const typed of [
      code(2),
      code(-2),
      code(0, other),
      '',
      '12345',
      '1234567',
      '１２３４５６',
      'x'.repeat(9999),
    ]) {
      expect(await use(typed)).toBe(false);
    }
    expect(await use(code())).toBe(true);
  });

  test('ten at once: one succeeds', async () => {
    const { use, code } = await withSecondFactor();
    const uses = await Promise.all(Array.from({ length: 10 }, () => use(code())));
    expect(uses.filter((done) => done)).toHaveLength(1);
  });

  test('somebody else’s codes are of no use, nor are those of nobody', async () => {
    const { store, use, code, codes } = await withSecondFactor();
    const secret = newSecret(systemRandom);
    await setUpSecondFactor(store, 'bob', secret, code(-1, secret));
    expect(await use(code(), 'bob')).toBe(false);
    expect(await use(codes[0] ?? '', 'bob')).toBe(false);
    expect(await use(code(), 'nobody')).toBe(false);
    expect(await use(code(0, secret), 'bob')).toBe(true);
  });

  test('set up with a wrong code, or for the second time, changes nothing', async () => {
    const { store, use, code } = await withSecondFactor();
    const other = newSecret(systemRandom);
    expect(await setUpSecondFactor(store, 'bob', other, code())).toBe('wrong');
    expect(await setUpSecondFactor(store, 'bob', other, '')).toBe('wrong');
    expect(await store.stores.secondFactors.get('bob')).toBeUndefined();
    expect(await setUpSecondFactor(store, 'alice', other, code(0, other))).toBe('taken');
    expect(await use(code())).toBe(true);
  });
});

describe('recovery codes', () => {
  test('ten of 50 bits, each works once, in any form that people write', async () => {
    const { use, codes } = await withSecondFactor();
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/);
    const [first = '', second = ''] = codes;
    expect(await use(shownRecoveryCode(first).toLowerCase())).toBe(true);
    expect(await use(first)).toBe(false);
    expect(await use(` ${second.slice(0, 3)} ${second.slice(3).replaceAll('1', 'l')}`)).toBe(true);
  });

  test('letters that look like digits are read as those; other texts are none', () => {
    expect(readRecoveryCode('oOiIl-12345')).toBe('0011112345');
    expect(readRecoveryCode('0011112345')).toBe('0011112345');
    for (const typed of ['', '123456', '00111-1234U', '00111-123456', 'x'.repeat(9999)]) {
      expect(readRecoveryCode(typed)).toBeUndefined();
    }
  });

  test('ten uses of one at once: one succeeds', async () => {
    const { use, codes } = await withSecondFactor();
    const uses = await Promise.all(Array.from({ length: 10 }, () => use(codes[3] ?? '')));
    expect(uses.filter((done) => done)).toHaveLength(1);
  });

  test('new ones take the place of all others', async () => {
    const { store, use, codes } = await withSecondFactor();
    const renewed = (await renewRecoveryCodes(store, 'alice')) ?? [];
    expect(renewed).toHaveLength(10);
    expect(await use(codes[0] ?? '')).toBe(false);
    expect(await use(renewed[0] ?? '')).toBe(true);
    expect(await renewRecoveryCodes(store, 'nobody')).toBeUndefined();
  });
});

test('the store has neither the secret nor a code in clear, and another master secret opens nothing', async () => {
  const { store, codes, code } = await withSecondFactor();
  const kept = JSON.stringify(await store.stores.secondFactors.get('alice'));
  for (const secret of [SECRET.toString('base64url'), SECRET.toString('hex'), ...codes]) {
    expect(kept).not.toContain(secret);
  }
  const other = { ...store, master: systemRandom(32) };
  expect(await useSecondFactor(other, 'alice', codes[0] ?? '')).toBe(false);
  await expect(useSecondFactor(other, 'alice', code())).rejects.toThrow();
});
