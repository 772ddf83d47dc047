import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/**
 * Keeps what `make` writes to a folder, as long as no file has changed of which it was made, and makes it anew
 * otherwise. `make`: resolves to the paths of these files. The record has them from the folder on: a clone that was copied
 * is of its own files.
 */
export async function kept(
  folder: string,
  make: (folder: string) => Promise<readonly string[]>,
): Promise<void> {
  const record = join(folder, 'made-of.json');
  const before = await readFile(record, 'utf8').catch(() => undefined);
  if (before !== undefined) {
    const { files = [] } = JSON.parse(before) as { readonly files?: readonly string[] };
    if ((await versions(folder, files)) === before) return;
  }
  // A process that runs the former files keeps those that it has loaded.
  const fresh = `${folder}-${process.pid}`;
  await mkdir(fresh, { recursive: true });
  const files = (await make(fresh)).map((file) => relative(folder, file));
  await writeFile(join(fresh, 'made-of.json'), await versions(folder, files));
  await rm(folder, { recursive: true, force: true });
  await rename(fresh, folder);
}

/** Returns the files and when each was written; null for a missing file. Lists, which the launcher reads in less memory. */
async function versions(folder: string, files: readonly string[]): Promise<string> {
  const written = await Promise.all(
    files.map(async (file) => (await stat(join(folder, file)).catch(() => null))?.mtimeMs ?? null),
  );
  return JSON.stringify({ files, written });
}
