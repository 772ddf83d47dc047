import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '#shared/base/make-folder.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import { openSqlite } from '../sqlite/open.ts';
import { treesWithDocuments } from '../sqlite/backup/trees-with-documents.ts';
import { folderOf } from '../trees/tree-folder.ts';
import { copyRegular, demandFolder, IrregularFile } from './regular-file.ts';

/** Made by opening the store, and of no use in a copy: what lives for minutes, and room kept for a full disk. */
const OPENED = [
  'transient.db',
  'transient.db-wal',
  'transient.db-shm',
  'transient.db.reserve',
  'transient.db.waiting',
  'state.db.mark',
  'state.db.reserve',
  'state.db.waiting',
];

/** The rows of a backup may be anybody's. */
const NAME = /^(?!\.{0,2}$)[^/\\\0]+$/;

/**
 * Copies the content files that the trees in `backup` name from the `data` folder, and waits until they are on the
 * disk. Content is immutable, so what an earlier call has copied is good. Resolves to the number of files that are
 * there, and to those that are gone by now. Rejects with `IrregularFile`.
 */
export async function copyContent(
  data: string,
  backup: string,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<{ readonly copied: number; readonly gone: readonly string[] }> {
  let copied = 0;
  const gone: string[] = [];
  {
    await using stores = await openSqlite({ folder: backup, clock, random });
    for (const tree of treesWithDocuments(backup)) {
      const files = await stores.trees.files(tree);
      const folder = join('content', named(folderOf(tree)));
      if (files.size === 0) continue;
      makeFolder(join(backup, folder));
      for (const name of files) {
        const file = join(folder, named(name));
        const found = await isThere(async () => {
          demandFolder(join(data, folder));
          await copyRegular(join(data, file), join(backup, file));
        });
        if (found) copied += 1;
        else gone.push(file);
      }
      await synced(join(backup, folder));
    }
  }
  if (copied > 0) await synced(join(backup, 'content'));
  await Promise.all(OPENED.map((file) => rm(join(backup, file), { force: true })));
  return { copied, gone };
}

/** Throws `IrregularFile` for a name that leads out of its folder. */
export function named(name: string): string {
  if (NAME.test(name)) return name;
  throw new IrregularFile(`state.db names content by ${JSON.stringify(name)}`);
}

/** False: there is no such file. */
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
