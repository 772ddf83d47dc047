import { expect, test } from '@jest/globals';
import { parseOptions } from '@node-rs/argon2';
import { ALONE, Line } from '#shared/base/line.ts';
import { HttpError } from '#shared/http/answer.ts';
import { CountedArgon2 } from './directory.fixture.ts';
import { createPasswords } from './password.ts';
import type { Argon2 } from './password.ts';

const passwords = createPasswords();

test('a hash is argon2id with 19 MiB, two passes and one lane, and has a salt of its own', async () => {
  const [one, other] = [
    await passwords.hash(ALONE, 'swordfish'),
    await passwords.hash(ALONE, 'swordfish'),
  ];
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(other).not.toBe(one);
  expect(await passwords.verify(ALONE, one, 'swordfish')).toBe(true);
  expect(await passwords.verify(ALONE, one, 'Swordfish')).toBe(false);
  expect(await passwords.verify(ALONE, one, '')).toBe(false);
});

test('without a hash the same work is done on a hash with the same parameters', async () => {
  const asked: string[] = [];
  const argon2: Argon2 = {
    hash: new CountedArgon2().hash,
    verify: async (hashed) => {
      asked.push(String(hashed));
      return true;
    },
  };
  const { hash, verify } = createPasswords(argon2);
  const real = await hash(ALONE, 'swordfish');
  expect(await verify(ALONE, undefined, 'swordfish')).toBe(false);
  expect(await verify(ALONE, real, 'swordfish')).toBe(true);
  const [dummy = ''] = asked;
  expect(parseOptions(dummy)).toEqual(parseOptions(real));
  expect(dummy).toHaveLength(real.length);
  expect(await passwords.verify(ALONE, dummy, 'swordfish')).toBe(false);
});

const lineOf = (lanes: number, most: number) =>
  new Line({ lanes, most, tooMany: () => new HttpError(503, 'too many') });

test('in a flood each lane runs one call, a few wait, and the remaining calls get 503', async () => {
  const argon2 = new CountedArgon2();
  const open = Promise.withResolvers<void>();
  argon2.gate = open.promise;
  const { verify } = createPasswords(argon2, lineOf(2, 3));
  const attempts = Array.from({ length: 10 }, () => verify(ALONE, undefined, 'guess'));
  const settled = Promise.allSettled(attempts);
  await expect(attempts[9]).rejects.toThrow(HttpError);
  expect(argon2.verifications).toBe(2);
  open.resolve();
  const results = await settled;
  expect(results.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 5 }, () => 'fulfilled'),
    ...Array.from({ length: 5 }, () => 'rejected'),
  ]);
  expect(argon2.verifications).toBe(5);
});

test('a stored hash that is malformed gives an error, admits no password, and blocks no other call', async () => {
  const { verify } = createPasswords(undefined, lineOf(1, 1));
  await expect(verify(ALONE, 'broken', 'swordfish')).rejects.toThrow();
  expect(await verify(ALONE, undefined, 'swordfish')).toBe(false);
});
