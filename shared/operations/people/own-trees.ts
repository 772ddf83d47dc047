import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseTarget } from '#shared/http/target.ts';
import type { Config } from '#shared/config/schema.ts';
import { folderOf, treesIn } from '#shared/stores/trees/tree-folder.ts';
import { accountName, ownTree } from '#shared/stores/trees/tree-names.ts';
import type { Trees } from '#shared/stores/trees/trees.ts';

/** How many members of the root are removed in one change. */
const BATCH = 100;

const NO_QUOTA = {
  bytes: Number.MAX_SAFE_INTEGER,
  properties: Number.MAX_SAFE_INTEGER,
  entries: Number.MAX_SAFE_INTEGER,
};

/** Returns the spaces in which each account has a tree of its own, with the name of the person's tree. */
export const ownTrees = (
  spaces: Config['spaces'],
  personId: string,
): readonly { readonly url: string; readonly tree: string }[] =>
  spaces.flatMap(({ url, tree }) => {
    const segments = parseTarget(new URL(url).pathname)?.segments ?? [];
    const path = segments.map((segment) => segment.normalize('NFC'));
    return tree === 'own' ? [{ url, tree: ownTree(path, accountName('person', personId)) }] : [];
  });

/**
 * Removes the person's own trees: in configured spaces from their stores, and in all other spaces from this disk.
 * Resolves to the number of trees that had documents.
 */
export async function removeOwnTrees(
  trees: Trees,
  { spaces, data }: Pick<Config, 'spaces' | 'data'>,
  personId: string,
): Promise<number> {
  const content = join(data, 'content');
  const account = accountName('person', personId);
  const names = new Set([
    ...ownTrees(spaces, personId).map(({ tree }) => tree),
    ...(await treesIn(content)).filter((tree) => tree.endsWith(`?${account}`)),
  ]);
  let removed = 0;
  for (const tree of names) {
    if (await emptied(trees, tree)) removed += 1;
    await rm(join(content, folderOf(tree)), { recursive: true, force: true });
  }
  await clearAll(trees, content);
  return removed;
}

/** Removes the content of the removed documents, and no waiting content of other people. */
async function clearAll(trees: Trees, content: string): Promise<void> {
  for (let some; (some = await trees.clear()) !== undefined;) {
    const folder = join(content, folderOf(some.tree));
    await Promise.all(some.released.map((file) => rm(join(folder, file), { force: true })));
  }
}

/** Empties a tree. Resolves to true if it had documents. */
async function emptied(trees: Trees, tree: string): Promise<boolean> {
  let found = false;
  for (;;) {
    const { members = [] } = (await trees.list(tree, '', '', BATCH)) ?? {};
    if (members.length === 0) return found;
    found = true;
    const paths = members.map(({ path }) => path);
    const { entries, locks, locksVersion } = await trees.look(tree, paths);
    await trees.commit(tree, {
      seen: new Map([...entries].map(([path, entry]) => [path, entry?.revision])),
      locksVersion,
      edits: [
        { kind: 'unlock', locks },
        ...paths.map((path) => ({ kind: 'remove', path }) as const),
      ],
      quota: NO_QUOTA,
    });
  }
}
