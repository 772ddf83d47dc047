import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';

test('a full disk stores nothing new, finds stored answers, and keeps removed answers removed, also after a restart', async () => {
  const folder = await temporaryFolder();
  const child = spawn(
    'unshare',
    [
      '--map-root-user',
      '--mount',
      'sh',
      '-c',
      'mount -t tmpfs -o size=8m tmpfs "$3" && exec "$@"',
      'sh',
      process.execPath,
      join(import.meta.dirname, 'full-disk.fixture.ts'),
      folder,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const lines: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(JSON.parse(line));
  expect(lines).toEqual([
    ['append', false],
    ['commit', false],
    ['empty', false],
    ['content', true],
    ['removed', 1],
    ['outdated', 1],
    ['found', []],
    ['fresh', 0],
    ['not opened', true],
    ['behind', true],
    ['gone', true],
    ['kept', true],
    ['room', true],
    ['position', '3'],
  ]);
});
