import { mkdir, rename, rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { isAsMade, noteMadeOf } from '#shared/cli/made-of.js';

/**
 * Keeps the files that `make` writes to a folder, until one of their sources changes; then makes them
 * again. `make`: resolves to the paths of the sources.
 */
export async function kept(
  folder: string,
  make: (folder: string) => Promise<readonly string[]>,
): Promise<void> {
  if (await isAsMade(folder)) return;
  // A process that runs the former files has already loaded them.
  const fresh = `${folder}-${process.pid}`;
  await mkdir(fresh, { recursive: true });
  const files = await make(fresh);
  await noteMadeOf(
    fresh,
    files.map((file) => relative(folder, file)),
  );
  await rm(folder, { recursive: true, force: true });
  await rename(fresh, folder);
}
