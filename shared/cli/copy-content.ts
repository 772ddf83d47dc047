import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '#shared/base/make-folder.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { folderOf, treesIn } from '#shared/stores/tree-folder.ts';
import type { Shell } from './command.ts';

/** Made by opening the store, and of no use in a copy: what lives for minutes, and room kept for a full disk. */
const OPENED = [
  'transient.db',
  'transient.db-wal',
  'transient.db-shm',
  'transient.db.reserve',
  'transient.db.waiting',
  'state.db.reserve',
  'state.db.waiting',
];

/**
 * Copies the content files that the trees in `backup` name from the `data` folder. Content is immutable, so what
 * an earlier call has copied is good. Resolves to the number of files that are there, and of those that are
 * gone by now.
 */
export async function copyContent(
  data: string,
  backup: string,
  { clock, random }: Shell,
): Promise<{ copied: number; gone: number }> {
  const trees = await treesIn(join(data, 'content'));
  const result = { copied: 0, gone: 0 };
  {
    await using stores = await openSqlite({ folder: backup, clock, random });
    for (const tree of trees) {
      const folder = join('content', folderOf(tree));
      makeFolder(join(backup, folder));
      for (const file of await stores.trees.files(tree)) {
        const path = join(folder, file);
        const found = await copyFile(join(data, path), join(backup, path)).then(
          () => true,
          falseIfMissing,
        );
        result[found ? 'copied' : 'gone'] += 1;
      }
    }
  }
  await Promise.all(OPENED.map((file) => rm(join(backup, file), { force: true })));
  return result;
}

function falseIfMissing(error: NodeJS.ErrnoException): false {
  if (error.code === 'ENOENT') return false;
  throw error;
}
