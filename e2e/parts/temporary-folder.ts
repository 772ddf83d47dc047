import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/** An empty folder that is removed with everything in it; in `parent`, by default where the system has them. */
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
 * The same in memory where there is room. For servers that wait for the disk at each write: one that
 * other tests keep busy for a second is not what they are tested for.
 */
export async function memoryFolder(): Promise<TemporaryFolder> {
  return temporaryFolder((await roomInMemory()) ? MEMORY : undefined);
}
