import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { STATE } from '../schema/state.ts';

/** The trees in `state.db` of `folder` that have documents, whether or not their content is there. */
export function treesWithDocuments(folder: string): readonly string[] {
  using database = new DatabaseSync(join(folder, STATE.file), { readOnly: true });
  return database
    .prepare('SELECT DISTINCT tree FROM resource WHERE file IS NOT NULL')
    .all()
    .map(({ tree }) => String(tree));
}
