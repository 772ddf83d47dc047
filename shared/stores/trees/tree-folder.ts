import { readdir } from 'node:fs/promises';
import { remembering } from '#shared/base/recent-map.ts';

const OUTSIDE_ESCAPES = /(?<!%.?)[A-Z]/g;

/**
 * The name of the folder with the content of a tree. Capital letters are encoded too: some file systems
 * do not tell them from small ones, and no two trees may share a folder.
 */
export const folderOf = remembering(
  (tree): string =>
    encodeURIComponent(tree).replaceAll(
      OUTSIDE_ESCAPES,
      (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
  { capacity: 1000, longest: 512 },
);

/** The tree whose folder has exactly this name; undefined: that of none has. */
export function treeOf(folder: string): string | undefined {
  try {
    const tree = decodeURIComponent(folder);
    return folderOf(tree) === folder ? tree : undefined;
  } catch {
    return undefined;
  }
}

/** The trees that have a folder in `content`; a link is none. */
export async function treesIn(content: string): Promise<readonly string[]> {
  const found = await readdir(content, { withFileTypes: true }).catch(noneIfMissing);
  return found.flatMap((entry) => (entry.isDirectory() ? (treeOf(entry.name) ?? []) : []));
}

function noneIfMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
