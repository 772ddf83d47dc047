import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { somePerson } from '#shared/stores/contract/samples.ts';
import { type Derived, deriveVerifiers, lackingVerifiers } from './derive-verifiers.ts';
import { userhashOf } from './digest-hash.ts';
import type { RealmNeeds } from './realms.ts';

const derive = (realms: readonly RealmNeeds[], name: string, password: string) =>
  deriveVerifiers(realms, { name, password }, systemRandom);

const NOTHING: Derived = { scram: {}, digests: [] };

const lacking = ({ scram, digests }: Derived, realms: readonly RealmNeeds[]) =>
  lackingVerifiers({ person: { ...somePerson('alice'), scram }, digests }, realms);

const all = (realm: string): RealmNeeds => ({
  realm,
  digest: ['MD5', 'SHA-256', 'SHA-512-256'],
  scram: ['SHA-1', 'SHA-256'],
});

describe('Digest: with the HA1 that is kept, a response is that of the vector (RFC 7616 section 3.4.1)', () => {
  const OF_3_9_1 = {
    realm: 'http-auth@example.org',
    name: 'Mufasa',
    password: 'Circle of Life',
    target: 'GET:/dir/index.html',
    fresh:
      '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v:00000001:f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
  };
  const OF_3_9_2 = {
    realm: 'api@example.org',
    name: 'J\u00e4s\u00f8n Doe',
    password: 'Secret, or not?',
    target: 'GET:/doe.json',
    fresh:
      '5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK:00000001:NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v',
  };
  test.each([
    ['3.9.1', 'MD5', 'md5', OF_3_9_1, '8ca523f5e9506fed4657c9700eebdbec'],
    [
      '3.9.1',
      'SHA-256',
      'sha256',
      OF_3_9_1,
      '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
    ],
    // The RFC has the value of SHA-512 cut to 256 bits, which is another function than SHA-512/256.
    [
      '3.9.2, corrected',
      'SHA-512-256',
      'sha512-256',
      OF_3_9_2,
      '3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5',
    ],
  ] as const)('section %s, %s', async (_, hash, crypto, vector, response) => {
    const { realm, name, password, target, fresh } = vector;
    const needs = { realm, digest: [hash], scram: [] };
    const [row] = (await derive([needs], name, password)).digests;
    const ha1 = row?.ha1;
    expect(row).toMatchObject({ realm, hash, userhash: userhashOf(hash, name, realm) });
    const h = (text: string) => createHash(crypto).update(text).digest('hex');
    expect(h(`${ha1}:${fresh}:auth:${h(target)}`)).toBe(response);
  });
});

describe('SCRAM: the keys are those that GNU SASL makes of the same salt (RFC 5802 section 3)', () => {
  test.each([
    ['SHA-1', 'correct horse battery staple'],
    ['SHA-256', 'correct horse battery staple'],
    ['SHA-256', 'p\u00e4ssw\u00f6rd'],
  ] as const)('SCRAM-%s, %s', async (hash, password) => {
    const derived = await derive([{ realm: 'r', digest: [], scram: [hash] }], 'alice', password);
    const keys = derived.scram[hash];
    const args = ['--mkpasswd', '--mechanism', `SCRAM-${hash}`, '--password', password];
    const { stdout } = await promisify(execFile)(
      'gsasl',
      [...args, '--salt', `${keys?.salt}`, '--iteration-count', `${keys?.iterations}`],
      { env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' } },
    );
    expect(stdout.trim()).toBe(
      `{SCRAM-${hash}}${keys?.iterations},${keys?.salt},${keys?.stored_key},${keys?.server_key}`,
    );
  });

  test('each hash has 128 bits of salt of its own at each time, whatever the realms', async () => {
    const derived = [
      await derive([all('one'), all('two')], 'alice', 'swordfish'),
      await derive([all('one'), all('two')], 'alice', 'swordfish'),
    ];
    const salts = derived.flatMap(({ scram }) => Object.values(scram).map(({ salt }) => salt));
    expect(new Set(salts).size).toBe(4);
    expect(salts.map((salt) => Buffer.from(salt, 'base64').length)).toEqual(Array(4).fill(16));
  });

  test('a thousand realms cost one derivation for each hash', async () => {
    let salts = 0;
    const random = (length: number) => {
      salts += 1;
      return systemRandom(length);
    };
    const realms = Array.from({ length: 1000 }, (_, n) => all(`realm ${n}`));
    const derived = await deriveVerifiers(realms, { name: 'alice', password: 'swordfish' }, random);
    expect(salts).toBe(2);
    expect(lacking(derived, realms)).toEqual([]);
  });

  test('a password that clients prepare in different ways gets no keys, and Digest as any other', async () => {
    const derived = await derive([all('r')], 'alice', '\u00bd of the password');
    expect(derived.scram).toEqual({});
    expect(derived.digests).toHaveLength(3);
  });
});

test('what a realm does not need is not kept', async () => {
  const needs: RealmNeeds[] = [
    { realm: 'digest', digest: ['SHA-256'], scram: [] },
    { realm: 'scram', digest: [], scram: ['SHA-256'] },
  ];
  const derived = await derive(needs, 'alice', 'swordfish');
  const hexadecimal = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(derived).toEqual({
    digests: [{ realm: 'digest', hash: 'SHA-256', ha1: hexadecimal, userhash: hexadecimal }],
    scram: { 'SHA-256': expect.anything() },
  });
  expect(await derive([], 'alice', 'swordfish')).toEqual({ digests: [], scram: {} });
});

describe('lackingVerifiers', () => {
  test('nobody lacks what was derived for the same realms', async () => {
    const realms = [all('one'), all('two')];
    expect(lacking(await derive(realms, 'alice', 'swordfish'), realms)).toEqual([]);
    expect(lacking(NOTHING, [])).toEqual([]);
  });

  test('a realm or a hash that came later is named, and that alone', async () => {
    const before: RealmNeeds = { realm: 'one', digest: ['MD5'], scram: ['SHA-1'] };
    const derived = await derive([before], 'alice', 'swordfish');
    expect(lacking(derived, [all('one'), before])).toEqual([
      { realm: 'one', digest: ['SHA-256', 'SHA-512-256'], scram: ['SHA-256'] },
    ]);
    const later = all('later');
    expect(lacking(NOTHING, [later])).toEqual([later]);
    // SCRAM's keys are good in every realm.
    expect(lacking(derived, [before, later])).toEqual([{ ...later, scram: ['SHA-256'] }]);
  });

  test('realms with names of JavaScript', () => {
    for (const realm of ['__proto__', 'constructor']) {
      expect(lacking(NOTHING, [all(realm)])).toEqual([all(realm)]);
    }
  });
});
