/** @needs gsasl */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { formatScramKeys, parseScramKeys, SCRAM_KINDS } from './verifier.ts';

const derive = (hash: 'SHA-1' | 'SHA-256', password: string) =>
  SCRAM_KINDS[hash].derive({ name: 'alice', realm: 'one', password }, systemRandom);

describe('the keys are those that GNU SASL makes of the same salt (RFC 5802 section 3)', () => {
  test.each([
    ['SHA-1', 'correct horse battery staple'],
    ['SHA-256', 'correct horse battery staple'],
    ['SHA-256', 'p\u00e4ssw\u00f6rd'],
  ] as const)('SCRAM-%s, %s', async (hash, password) => {
    const value = (await derive(hash, password)) ?? '';
    const [, iterations = '', salt = ''] = /^SCRAM-[^$]+\$(\d+):([^$]+)/.exec(value) ?? [];
    const args = ['--mkpasswd', '--mechanism', `SCRAM-${hash}`, '--password', password];
    const { stdout } = await promisify(execFile)(
      'gsasl',
      [...args, '--salt', salt, '--iteration-count', iterations],
      { env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' } },
    );
    const [, storedKey, serverKey] = /,([^,]+),([^,]+)$/.exec(stdout.trim()) ?? [];
    expect(value).toBe(`SCRAM-${hash}$${iterations}:${salt}$${storedKey}:${serverKey}`);
  });
});

test('each verifier has a salt of its own, of 128 bits', async () => {
  const values = await Promise.all([1, 2, 3].map(async () => derive('SHA-256', 'swordfish')));
  const salts = values.map((value) => parseScramKeys('SHA-256', value ?? '')?.salt);
  expect(salts.map((salt) => salt?.length)).toEqual([16, 16, 16]);
  expect(new Set(salts.map((salt) => salt?.toString('hex'))).size).toBe(3);
});

test('a password that clients prepare in different ways gets no verifier', async () => {
  expect(await derive('SHA-1', '\u00bd of the password')).toBeUndefined();
});

describe('RFC 5803 section 2: the text of the keys', () => {
  const keys = (size: number) => ({
    salt: Buffer.alloc(16, 0xfb),
    iterations: 4096,
    storedKey: Buffer.alloc(size, 1),
    serverKey: Buffer.alloc(size, 2),
  });
  const [SHA_1, SHA_256] = [keys(20), keys(32)];

  test('the text of keys is read as it was written, and only for its hash', () => {
    expect(formatScramKeys('SHA-1', SHA_1)).toBe(
      'SCRAM-SHA-1$4096:+/v7+/v7+/v7+/v7+/v7+w==$AQEBAQEBAQEBAQEBAQEBAQEBAQE=:AgICAgICAgICAgICAgICAgICAgI=',
    );
    expect(parseScramKeys('SHA-1', formatScramKeys('SHA-1', SHA_1))).toEqual(SHA_1);
    expect(parseScramKeys('SHA-256', formatScramKeys('SHA-256', SHA_256))).toEqual(SHA_256);
    expect(parseScramKeys('SHA-256', formatScramKeys('SHA-1', SHA_1))).toBeUndefined();
    expect(SCRAM_KINDS['SHA-1'].isValue(formatScramKeys('SHA-1', SHA_1))).toBe(true);
    expect(SCRAM_KINDS['SHA-1'].isValue(formatScramKeys('SHA-256', SHA_256))).toBe(false);
  });

  test.each([
    ['iterations that protect nothing', { iterations: 4095 }],
    ['iterations that hold a client up', { iterations: 1_000_001 }],
    [
      'a salt of another length, by which a person could be told from nobody',
      { salt: Buffer.alloc(15) },
    ],
    ['a key of another length', { storedKey: Buffer.alloc(20) }],
    ['no key', { serverKey: Buffer.alloc(0) }],
  ])('the text of keys is refused with %s', (_, changes) => {
    const text = formatScramKeys('SHA-256', { ...SHA_256, ...changes });
    expect(parseScramKeys('SHA-256', text)).toBeUndefined();
  });

  test('the text of keys is refused in any other spelling', () => {
    const text = formatScramKeys('SHA-256', SHA_256);
    for (const wrong of [
      '',
      ` ${text}`,
      `${text}\n`,
      text.replace('SCRAM-', ''),
      text.replace('4096', '04096'),
      text.replace('==', ''),
      text.replaceAll('+', '-').replaceAll('/', '_'),
      text.replaceAll('$', ','),
    ]) {
      expect(parseScramKeys('SHA-256', wrong)).toBeUndefined();
    }
  });
});
