import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { within } from './within.ts';

test('results and errors in time are passed on unchanged', async () => {
  await expect(within(1000, Promise.resolve('done'))).resolves.toBe('done');
  await expect(within(1000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});

test('late work is rejected with its time limit', async () => {
  const late = within(20, new Promise(() => {}));
  await expect(late).rejects.toThrow('no answer within 20 ms');
});

test('an answer that arrived while the process was paused is not late', async () => {
  const answer = within(100, readFile(import.meta.filename, 'utf8'));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  await expect(answer).resolves.toContain('stood still');
});
