import { expect, test } from '@jest/globals';
import { allOf, andThen, recover } from './awaitable.ts';

const later = async <T>(value: T) => value;
const fail = () => {
  throw new Error('no');
};
const message = (error: unknown) => (error as Error).message;

test('andThen uses a present value at once, and a promise when it resolves', async () => {
  expect(andThen(1, (one) => one + 1)).toBe(2);
  expect(andThen(undefined, () => 'nothing')).toBe('nothing');
  const promise = andThen(later(1), (one) => one + 1);
  expect(promise).toBeInstanceOf(Promise);
  expect(await promise).toBe(2);
  expect(await andThen(1, later)).toBe(1);
});

test('allOf uses present values at once, and otherwise waits for the last promise', async () => {
  expect(allOf([1, undefined, 'two'])).toEqual([1, undefined, 'two']);
  const promise = allOf([1, later('two')]);
  expect(promise).toBeInstanceOf(Promise);
  expect(await promise).toEqual([1, 'two']);
  await expect(allOf([1, later(1).then(fail)])).rejects.toThrow('no');
});

test('recover handles an error that is thrown at once or rejected later', async () => {
  expect(recover(() => 'well', message)).toBe('well');
  expect(recover<string>(fail, message)).toBe('no');
  expect(await recover<string>(async () => fail(), message)).toBe('no');
  expect(await recover(() => later('well'), message)).toBe('well');
});

test('recover does not handle an error of the work on the value', async () => {
  expect(() => andThen(1, fail)).toThrow('no');
  await expect(andThen(later(1), fail)).rejects.toThrow('no');
  await expect(recover(() => later(1), fail)).resolves.toBe(1);
});
