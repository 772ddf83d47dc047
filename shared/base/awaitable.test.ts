import { expect, test } from '@jest/globals';
import { andThen, recover } from './awaitable.ts';

const later = async <T>(value: T) => value;
const fail = () => {
  throw new Error('no');
};
const message = (error: unknown) => (error as Error).message;

test('a value that is there is used at once, a promise when it resolves', async () => {
  expect(andThen(1, (one) => one + 1)).toBe(2);
  expect(andThen(undefined, () => 'nothing')).toBe('nothing');
  const promise = andThen(later(1), (one) => one + 1);
  expect(promise).toBeInstanceOf(Promise);
  expect(await promise).toBe(2);
  expect(await andThen(1, later)).toBe(1);
});

test('an error is recovered from, thrown at once or rejected later', async () => {
  expect(recover(() => 'well', message)).toBe('well');
  expect(recover<string>(fail, message)).toBe('no');
  expect(await recover<string>(async () => fail(), message)).toBe('no');
  expect(await recover(() => later('well'), message)).toBe('well');
});

test('an error of the work on the value is not recovered from', async () => {
  expect(() => andThen(1, fail)).toThrow('no');
  await expect(andThen(later(1), fail)).rejects.toThrow('no');
  await expect(recover(() => later(1), fail)).resolves.toBe(1);
});
