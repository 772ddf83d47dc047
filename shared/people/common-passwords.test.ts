import { expect, test } from '@jest/globals';
import { commonPasswords, isCommonPassword } from './common-passwords.ts';

test('the list of common passwords has those of 8 characters or more, in any case', async () => {
  expect(await isCommonPassword('password')).toBe(true);
  expect(await isCommonPassword('PASSWORD')).toBe(true);
  expect(await isCommonPassword('123456')).toBe(false);
  expect(await isCommonPassword('__proto__')).toBe(false);
});

test('the 10,000 commonest passwords are refused, not counting those of fewer than 8 characters', async () => {
  const numbered = Array.from({ length: 10_001 }, (_, n) => `password${n}`);
  const isCommon = commonPasswords(async () => JSON.stringify(['short', ...numbered]));
  expect(await isCommon('password9999')).toBe(true);
  expect(await isCommon('password10000')).toBe(false);
  expect(await isCommon('short')).toBe(false);
});

test('the list is read once, when the first password is judged', async () => {
  let reads = 0;
  const isCommon = commonPasswords(async () => {
    reads += 1;
    return '["baseball"]';
  });
  expect(reads).toBe(0);
  const all = await Promise.all(Array.from({ length: 10 }, () => isCommon('BaseBall')));
  expect(all).toEqual(Array.from({ length: 10 }, () => true));
  expect(reads).toBe(1);
});

test('if the list cannot be read, no password is accepted, and the next attempt reads it again', async () => {
  const answers = [Promise.reject(new Error('EMFILE')), Promise.resolve('["baseball"]')];
  const isCommon = commonPasswords(() => answers.shift() ?? Promise.reject(new Error('again')));
  await expect(isCommon('baseball')).rejects.toThrow('EMFILE');
  expect(await isCommon('baseball')).toBe(true);
});
