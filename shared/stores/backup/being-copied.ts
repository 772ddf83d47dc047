import { lstat, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Milliseconds after which a mark is invalid: its process has died, or the clock was set. */
const LONGEST_COPY = 86_400_000;

const markOf = (content: string) => join(content, '.backup');

/** While `work` copies rows and files of content, a mark keeps servers from removing content. */
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
