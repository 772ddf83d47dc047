import { expect, test } from '@jest/globals';
import { SCRAM_ITERATIONS } from './hashes.ts';
import { scramKeys } from './keys.ts';

const SALT = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');

/** Made by `gsasl --mkpasswd` 2.2.0 from the salts of RFC 5802 section 5 and RFC 7677 section 3. */
const MADE_BY_GSASL = [
  {
    hash: 'SHA-1',
    password: 'pencil',
    salt: 'QSXCR+Q6sek8bf92',
    storedKey: '6dlGYMOdZcOPutkcNY8U2g7vK9Y=',
    serverKey: 'D+CSWLOshSulAsxiupA+qs2/fTE=',
  },
  {
    hash: 'SHA-256',
    password: 'pencil',
    salt: 'W22ZaJ0SNY7soEsUEjb6gQ==',
    storedKey: 'WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=',
    serverKey: 'wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  },
  {
    hash: 'SHA-256',
    password: 'p\u00e4ssw\u00f6rd',
    salt: 'W22ZaJ0SNY7soEsUEjb6gQ==',
    storedKey: 'dcgqTWLkt/QY/G2TTG2Kx054l2TY/d1/rrqpxFf42c8=',
    serverKey: '1J1wEQIBJAVfD0SDivXshqbZYR5KFg/C5ltFBHBSzbc=',
  },
] as const;

test.each(MADE_BY_GSASL)(
  'RFC 5802 section 3: StoredKey and ServerKey of $password with $hash are those of gsasl',
  async ({ hash, password, salt, storedKey, serverKey }) => {
    const keys = await scramKeys(hash, password, Buffer.from(salt, 'base64'), 4096);
    expect(keys?.storedKey.toString('base64')).toBe(storedKey);
    expect(keys?.serverKey.toString('base64')).toBe(serverKey);
  },
);

test('RFC 7804 section 2.2: forms of a password that both preparations make equal get the same keys', async () => {
  const keys = await scramKeys('SHA-256', 'p\u00e4ss w\u00f6rd', SALT, 10);
  expect(keys).toBeDefined();
  expect(await scramKeys('SHA-256', 'pa\u0308ss\u00a0wo\u0308rd', SALT, 10)).toEqual(keys);
  expect(await scramKeys('SHA-256', 'P\u00e4ss w\u00f6rd', SALT, 10)).not.toEqual(keys);
});

test.each([
  ['U+00BD, which RFC 7804 section 3 names', 'a\u00bdbcdefg'],
  ['U+00B4, which RFC 7804 section 3 names', 'a\u00b4bcdefg'],
  ['full width', '\uff50assword'],
  ['a soft hyphen', 'pass\u00adword'],
  ['a control character', 'pass\u0007word'],
  ['a lone surrogate', 'password\ud800'],
  ['both directions', 'password\u05d0'],
  ['empty', ''],
  ['1025 bytes', 'x'.repeat(1025)],
])('a password gets no keys if the preparations refuse it or differ: %s', async (_, password) => {
  expect(await scramKeys('SHA-256', password, SALT, 10)).toBeUndefined();
});

test('RFC 7804 section 8: the iteration count is the highest that Apache HttpClient accepts', () => {
  expect(SCRAM_ITERATIONS).toBeGreaterThanOrEqual(4096);
  expect(SCRAM_ITERATIONS).toBeLessThanOrEqual(100_000);
});

test('the derivation leaves the main thread free', async () => {
  let turns = 0;
  const turning = setInterval(() => (turns += 1), 1);
  await scramKeys('SHA-256', 'pencil', SALT, SCRAM_ITERATIONS);
  clearInterval(turning);
  expect(turns).toBeGreaterThan(0);
});
