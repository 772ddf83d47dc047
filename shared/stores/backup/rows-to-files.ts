import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { syncPath } from '../sqlite/file/sync-path.ts';
import { LONGEST_CONTENT, STATE } from '../sqlite/schema/state.ts';
import { named } from './copy-content.ts';
import { folderOf } from '../trees/tree-folder.ts';

/**
 * Turns rows of content in a backup into files where SQLite has files. Resolves to their number. Rejects with
 * `IrregularFile`.
 */
export async function rowsToFiles(staged: string): Promise<number> {
  using database = new DatabaseSync(join(staged, STATE.file), { returnArrays: true });
  const long = database
    .prepare('SELECT tree, file FROM content WHERE octet_length(bytes) > ?')
    .all(LONGEST_CONTENT) as unknown as readonly [tree: string, file: string][];
  const find = database.prepare('SELECT bytes FROM content WHERE tree = ? AND file = ?');
  const remove = database.prepare('DELETE FROM content WHERE tree = ? AND file = ?');
  for (const [tree, file] of long) {
    const [bytes] = find.get(tree, file) as unknown as [Uint8Array];
    const folder = join(staged, 'content', named(folderOf(tree)));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, named(file)), bytes, { mode: 0o600, flag: 'wx', flush: true });
    syncPath(folder);
    remove.run(tree, file);
  }
  return long.length;
}
