import { lstat, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Milliseconds from now by which a mark counts no more: the process that made it has died, or the clock was set since. */
const LONGEST_COPY = 86_400_000;

const markOf = (content: string) => join(content, '.backup');

/**
 * While `work` copies rows, and then the content in files that they name, servers that see the mark remove none of it. A folder
 * that takes no mark is copied all the same.
 */
export async function whileCopied<T>(content: string, work: () => Promise<T>): Promise<T> {
  await writeFile(markOf(content), '1', { mode: 0o600 }).catch(() => {});
  try {
    return await work();
  } finally {
    await rm(markOf(content), { force: true }).catch(() => {});
  }
}

/** Whether a backup copies this content at `now`. */
export const isBeingCopied = (content: string, now: number): Promise<boolean> =>
  lstat(markOf(content)).then(
    ({ mtimeMs }) => Math.abs(now - mtimeMs) < LONGEST_COPY,
    () => false,
  );
