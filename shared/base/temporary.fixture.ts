import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';

const made: string[] = [];

afterAll(async () => {
  // Removing is retried, since a process that a later hook ends may still write to the folder.
  const again = { maxRetries: 20, retryDelay: 10 };
  for (const folder of made) await rm(folder, { recursive: true, force: true, ...again });
});

/** An empty folder, which is removed after the tests of the file. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-'));
  made.push(folder);
  return folder;
}
