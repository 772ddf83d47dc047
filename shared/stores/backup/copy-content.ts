import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '#shared/base/make-folder.ts';
import { STATE } from '../sqlite/schema/state.ts';
import { folderOf } from '../trees/tree-folder.ts';
import { copyRegular, demandFolder, IrregularFile } from './regular-file.ts';

/** In SQL: the condition that a document has its content in a file. */
export const IN_FILES = `file IS NOT NULL AND NOT EXISTS
  (SELECT 1 FROM content WHERE content.tree = resource.tree AND content.file = resource.file)`;

/** A backup may come from an attacker. */
const NAME = /^(?!\.{0,2}$)[^/\\\0]+$/;

/**
 * Copies the files of content that the trees in `backup` name from the folder `data`, and waits for the disk. Content
 * never changes, so files in `whole`, which an earlier call has copied, are not copied again. Resolves to the number of
 * copied files, and to the missing files. Rejects with `IrregularFile`.
 */
export async function copyContent(
  data: string,
  backup: string,
  whole = new Set<string>(),
): Promise<{ readonly copied: number; readonly gone: readonly string[] }> {
  let copied = 0;
  const gone: string[] = [];
  using database = new DatabaseSync(join(backup, STATE.file));
  const trees = database.prepare(`SELECT DISTINCT tree FROM resource WHERE ${IN_FILES}`);
  const files = database.prepare(
    `SELECT DISTINCT file FROM resource WHERE tree = ? AND ${IN_FILES}`,
  );
  for (const { tree } of trees.all()) {
    const folder = join('content', named(folderOf(String(tree))));
    makeFolder(join(backup, folder));
    for (const { file: name } of files.all(String(tree))) {
      const file = join(folder, named(String(name)));
      const copy = async () => {
        demandFolder(join(data, folder));
        await copyRegular(join(data, file), join(backup, file));
      };
      if (whole.has(file) || (await isThere(copy))) {
        whole.add(file);
        copied += 1;
      } else gone.push(file);
    }
    await synced(join(backup, folder));
  }
  if (copied > 0) await synced(join(backup, 'content'));
  return { copied, gone };
}

/** Throws `IrregularFile` for a name that leads out of its folder. */
export function named(name: string): string {
  if (NAME.test(name)) return name;
  throw new IrregularFile(`state.db names content by ${JSON.stringify(name)}`);
}

/** False: the file is missing. */
async function isThere(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Waits until the folder is on the disk. */
async function synced(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}
