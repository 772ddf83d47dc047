import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * An empty folder that is removed with its content; in `parent`, by default in the system's temporary
 * folder.
 */
export async function temporaryFolder(parent = tmpdir()): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, 'countersign-'));
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}

export const MEMORY = '/dev/shm';
const ENOUGH = 4 * 1024 ** 3;

export async function roomInMemory(): Promise<boolean> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= ENOUGH;
}

/**
 * A temporary folder in memory if there is room. For servers that wait for the disk at each write, because
 * other tests may keep a disk busy for a second.
 */
export async function memoryFolder(): Promise<TemporaryFolder> {
  return temporaryFolder((await roomInMemory()) ? MEMORY : undefined);
}
