import { mkdir, rename, rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { isAsMade, noteMadeOf } from '#shared/cli/made-of.js';

/**
 * Keeps what `make` writes to a folder, as long as no file has changed of which it was made, and makes it anew
 * otherwise. `make`: resolves to the paths of these files.
 */
export async function kept(
  folder: string,
  make: (folder: string) => Promise<readonly string[]>,
): Promise<void> {
  if (await isAsMade(folder)) return;
  // A process that runs the former files keeps those that it has loaded.
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
