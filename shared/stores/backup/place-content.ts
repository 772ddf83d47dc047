import { copyFile, link, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#shared/base/make-folder.ts';
import { syncPath } from '../sqlite/file/sync-path.ts';
import { copyRegular } from './regular-file.ts';

/** Moves files of content into a store that may be in use. A name belongs to one content permanently. */
export async function placeContent(from: string, to: string): Promise<void> {
  for (const [tree, files] of await filesIn(from)) {
    if (files.length === 0) continue;
    makeFolder(join(to, tree));
    for (const file of files) await move(join(from, tree, file), join(to, tree, file));
    syncPath(join(to, tree));
    syncPath(to);
  }
}

/** Links each file of content into another folder, so that no sweep removes it. Resolves to whether there is any. */
export async function keepContent(from: string, to: string): Promise<boolean> {
  if (!existsSync(from)) return false;
  for (const [tree, files] of await filesIn(from)) {
    await mkdir(join(to, tree), { recursive: true, mode: 0o700 });
    for (const file of files) {
      const [here, there] = [join(from, tree, file), join(to, tree, file)];
      await link(here, there).catch(() => copyFile(here, there));
    }
  }
  return existsSync(to);
}

async function filesIn(content: string): Promise<readonly [tree: string, files: string[]][]> {
  const trees = await readdir(content, { withFileTypes: true });
  const folders = trees.filter((tree) => tree.isDirectory()).map(({ name }) => name);
  return Promise.all(
    folders.map(async (tree): Promise<[string, string[]]> => {
      const files = await readdir(join(content, tree), { withFileTypes: true });
      return [tree, files.filter((file) => file.isFile()).map(({ name }) => name)];
    }),
  );
}

/** `to` may be on another disk. An interrupted move leaves no partial file at `to`. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    const partial = `${to}.restoring`;
    await copyRegular(from, partial);
    await rename(partial, to);
    await rm(from);
  }
}
