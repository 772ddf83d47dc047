import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { testPeople } from '../directory.fixture.ts';
import { readRecoveryCode, shownRecoveryCode } from './recovery-codes.ts';
import { checkCode, makeSecondFactor, newSecret, renewRecoveryCodes } from './second-factor.ts';
import { hotp, stepAt } from './totp.ts';

const SECRET = newSecret(systemRandom);
const MASTER = systemRandom(32);

/** Creates alice with a second factor. */
async function withSecondFactor() {
  const { stores } = await testPeople();
  const clock = new ManualClock(1_800_000_015_000);
  const store = { stores, master: MASTER, clock, random: systemRandom };
  const code = (drift = 0, secret = SECRET) => hotp(secret, stepAt(clock.now()) + drift);
  const made = makeSecondFactor(store, 'alice', SECRET, code(-1));
  if (made === undefined) throw new Error('no code of now');
  await stores.secondFactors.add(made.factor);
  const check = (typed: string, accountId = 'alice') => checkCode(store, accountId, typed);
  const use = async (typed: string, accountId?: string) => {
    const checked = await check(typed, accountId);
    return typeof checked !== 'string' && (await checked.use()) !== undefined;
  };
  return { store, clock, code, codes: made.codes, check, use };
}

describe('one-time codes', () => {
  test('the code of the set-up cannot be used again; the next code works once, with any spaces', async () => {
    const { use, code } = await withSecondFactor();
    expect(await use(code(-1))).toBe(false);
    expect(await use(` ${code().slice(0, 3)} ${code().slice(3)} `)).toBe(true);
    expect(await use(code())).toBe(false);
  });

  test('after a code of a device whose clock is ahead, the present code is used up, too', async () => {
    const { use, code } = await withSecondFactor();
    expect(await use(code(1))).toBe(true);
    expect(await use(code())).toBe(false);
    expect(await use(code(1))).toBe(false);
  });

  test('codes two steps off, of another secret, and other texts are refused', async () => {
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

  test('one of ten uses of a code at the same time succeeds', async () => {
    const { use, code } = await withSecondFactor();
    const uses = await Promise.all(Array.from({ length: 10 }, () => use(code())));
    expect(uses.filter((done) => done)).toHaveLength(1);
  });

  test('codes of another person are refused, and so are codes for an unknown person', async () => {
    const { store, use, code, codes } = await withSecondFactor();
    const secret = newSecret(systemRandom);
    const bobs = makeSecondFactor(store, 'bob', secret, code(-1, secret));
    if (bobs) await store.stores.secondFactors.add(bobs.factor);
    expect(await use(code(), 'bob')).toBe(false);
    expect(await use(codes[0] ?? '', 'bob')).toBe(false);
    expect(await use(code(), 'nobody')).toBe(false);
    expect(await use(code(0, secret), 'bob')).toBe(true);
  });

  test('no second factor is set up without a code of its secret', async () => {
    const { store, code } = await withSecondFactor();
    const other = newSecret(systemRandom);
    for (const typed of [code(), '', code(2, other), '１２３４５６']) {
      expect(makeSecondFactor(store, 'bob', other, typed)).toBeUndefined();
    }
    expect(makeSecondFactor(store, 'bob', other, code(0, other))?.codes).toHaveLength(10);
  });

  test('the reason of a refusal is wrong, replayed, or an unknown recovery code', async () => {
    const { check, use, code, codes } = await withSecondFactor();
    expect(await check('000000')).toBe('wrong');
    expect(await check(code(-1))).toBe('replayed');
    expect(await check('0000000000')).toBe('recovery');
    await use(codes[0] ?? '');
    expect(await check(codes[0] ?? '')).toBe('recovery');
    expect(await check(code(), 'nobody')).toBe('wrong');
  });

  test('a check does not use a code up; of two right checks at the same time one can use it', async () => {
    const { check, code } = await withSecondFactor();
    const [one, other] = [await check(code()), await check(code())];
    if (typeof one === 'string' || typeof other === 'string') throw new Error('refused');
    expect([await one.use(), await other.use()]).toEqual([{}, undefined]);
  });

  test('a clock that goes back for an hour accepts no code twice; after a clock that was ahead by ten minutes, present codes are refused', async () => {
    const { clock, check, use, code } = await withSecondFactor();
    const right = code();
    expect(await use(right)).toBe(true);
    clock.advance(-3600);
    expect(await check(code())).toBe('replayed');
    expect(await check(right)).toBe('wrong');
    clock.advance(3600 + 600);
    expect(await check(right)).toBe('wrong');
    expect(await use(code())).toBe(true);
    clock.advance(-600);
    expect(await check(right)).toBe('replayed');
    expect(await check(code(1))).toBe('replayed');
    clock.advance(630);
    expect(await use(code())).toBe(true);
  });
});

describe('recovery codes', () => {
  test('each of the ten recovery codes has 50 bits and works once, in any form that people write', async () => {
    const { use, codes } = await withSecondFactor();
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/);
    const [first = '', second = ''] = codes;
    expect(await use(shownRecoveryCode(first).toLowerCase())).toBe(true);
    expect(await use(first)).toBe(false);
    expect(await use(` ${second.slice(0, 3)} ${second.slice(3).replaceAll('1', 'l')}`)).toBe(true);
  });

  test('letters that look like digits are read as digits; other texts are no codes', () => {
    expect(readRecoveryCode('oOiIl-12345')).toBe('0011112345');
    expect(readRecoveryCode('0011112345')).toBe('0011112345');
    for (const typed of ['', '123456', '00111-1234U', '00111-123456', 'x'.repeat(9999)]) {
      expect(readRecoveryCode(typed)).toBeUndefined();
    }
  });

  test('using a recovery code returns how many are left', async () => {
    const { check, codes } = await withSecondFactor();
    for (const left of [9, 8]) {
      const checked = await check(codes[left] ?? '');
      expect(typeof checked === 'string' ? checked : await checked.use()).toEqual({ left });
    }
  });

  test('one of ten uses of a recovery code at the same time succeeds', async () => {
    const { use, codes } = await withSecondFactor();
    const uses = await Promise.all(Array.from({ length: 10 }, () => use(codes[3] ?? '')));
    expect(uses.filter((done) => done)).toHaveLength(1);
  });

  test('new recovery codes replace all former ones', async () => {
    const { store, use, codes } = await withSecondFactor();
    const renewed = (await renewRecoveryCodes(store, 'alice')) ?? [];
    expect(renewed).toHaveLength(10);
    expect(await use(codes[0] ?? '')).toBe(false);
    expect(await use(renewed[0] ?? '')).toBe(true);
    expect(await renewRecoveryCodes(store, 'nobody')).toBeUndefined();
  });

  test('one of ten renewals at the same time gets codes that work, and the rest get none', async () => {
    const { store, use } = await withSecondFactor();
    const renewals = await Promise.all(
      Array.from({ length: 10 }, () => renewRecoveryCodes(store, 'alice')),
    );
    const [codes, ...others] = renewals.filter((renewed) => renewed !== undefined);
    expect(others).toEqual([]);
    expect(await use(codes?.[9] ?? '')).toBe(true);
  });
});

test('the store has neither the secret nor a code in clear text, and another master secret opens nothing', async () => {
  const { store, codes, code } = await withSecondFactor();
  const kept = JSON.stringify(await store.stores.secondFactors.get('alice'));
  for (const secret of [SECRET.toString('base64url'), SECRET.toString('hex'), ...codes]) {
    expect(kept).not.toContain(secret);
  }
  const other = { ...store, master: systemRandom(32) };
  expect(await checkCode(other, 'alice', codes[0] ?? '')).toBe('recovery');
  await expect(checkCode(other, 'alice', code())).rejects.toThrow();
});
