import { readdir } from 'node:fs/promises';
import { remembering } from '#shared/base/recent-map.ts';

const OUTSIDE_ESCAPES = /(?<!%.?)[A-Z]/g;

/** Returns the folder of a tree's content. Capital letters are encoded, since some file systems ignore case. */
export const folderOf = remembering(
  (tree): string =>
    encodeURIComponent(tree).replaceAll(
      OUTSIDE_ESCAPES,
      (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
  { capacity: 1000, longest: 512 },
);

/** Returns the tree whose folder has this name; undefined: no tree. */
export function treeOf(folder: string): string | undefined {
  try {
    const tree = decodeURIComponent(folder);
    return folderOf(tree) === folder ? tree : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the trees with a folder in `content`, without links. */
export async function treesIn(content: string): Promise<readonly string[]> {
  const found = await readdir(content, { withFileTypes: true }).catch(noneIfMissing);
  return found.flatMap((entry) => (entry.isDirectory() ? (treeOf(entry.name) ?? []) : []));
}

function noneIfMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
