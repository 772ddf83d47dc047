import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { within } from './within.ts';

test('results and errors in time are passed on as they are', async () => {
  await expect(within(1000, Promise.resolve('done'))).resolves.toBe('done');
  await expect(within(1000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});

test('late work is refused with the time that it had', async () => {
  const late = within(20, new Promise(() => {}));
  await expect(late).rejects.toThrow('no answer within 20 ms');
});

test('an answer that came while the process stood still is not late', async () => {
  const answer = within(100, readFile(import.meta.filename, 'utf8'));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  await expect(answer).resolves.toContain('stood still');
});
