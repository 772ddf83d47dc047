/** @slow */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const run = promisify(execFile);
const COUNTING = fileURLToPath(new URL('left-behind.fixture.ts', import.meta.url));

test.each([
  ['a thousand short connections of HTTP/2 leave no session behind', 'sessions'],
  ['uploads that were broken off over HTTP/2 leave neither request nor connection', 'http2'],
  ['uploads that were broken off over HTTP/1.1 leave neither request nor connection', 'http1'],
  [
    'uploads that were broken off over HTTP/1.1 behind their answer leave neither request nor connection',
    'answered',
  ],
])('%s', async (_, what) => {
  await expect(run(process.execPath, [COUNTING, what])).resolves.toMatchObject({
    stdout: '',
  });
});
