import { byKind, checkEdits } from '../edits.ts';
import {
  type Change,
  ImpossibleEdit,
  type Lock,
  type Outcome,
  type Quota,
  type Trees,
} from '../trees.ts';
import type { Connection } from './connection.ts';
import type { SqliteFile } from './file.ts';
import {
  BELOW,
  COLUMNS,
  entryOf,
  find,
  LISTED,
  type ListedRow,
  listedOf,
  type ResourceRow,
} from './resource-rows.ts';
import { type Editing, EDITS } from './tree-edits.ts';

type State = { locks_version: number; bytes: number; properties: number; entries: number };

const EMPTY: State = { locks_version: 0, bytes: 0, properties: 0, entries: 0 };

const MEMBERS = 'FROM resource WHERE tree = ? AND parent = ? AND name > ? ORDER BY name LIMIT ?';

export function sqliteTrees(file: SqliteFile): Trees {
  return {
    get: (tree, path) =>
      file.read((connection) => {
        const row = find(connection, tree, path);
        return row && entryOf(row);
      }),

    look: (tree, paths) =>
      file.read((connection) =>
        connection.snapshot(() => {
          const { locks_version, bytes, entries } = stateOf(connection, tree);
          const seen = paths.map((path) => [path, find(connection, tree, path)] as const);
          return {
            entries: new Map(seen.map(([path, row]) => [path, row && entryOf(row)])),
            locks: connection
              .all<{ record: string }>('SELECT record FROM tree_lock WHERE tree = ?', tree)
              .map(({ record }): Lock => JSON.parse(record)),
            locksVersion: String(locks_version),
            usage: { bytes, entries },
          };
        }),
      ),

    members: (tree, path, after, limit) =>
      file.read((connection) =>
        connection
          .all<ResourceRow>(`SELECT ${COLUMNS} ${MEMBERS}`, tree, path, after, limit)
          .map(entryOf),
      ),

    list: (tree, path, after, limit) =>
      file.read((connection) =>
        connection
          .all<ListedRow>(`SELECT ${LISTED} ${MEMBERS}`, tree, path, after, limit)
          .map(listedOf),
      ),

    below: (tree, path, limit) =>
      file.read((connection) =>
        connection
          .all<ResourceRow>(
            `SELECT ${COLUMNS} FROM resource
             WHERE ${path === '' ? 'tree = ?1 AND name <> ?2' : BELOW}
             ORDER BY parent, name LIMIT ?3`,
            tree,
            path,
            limit,
          )
          .map(entryOf),
      ),

    commit: async (tree, change) => {
      checkEdits(change.edits);
      const outcome = await file.write((connection) => commit(connection, tree, change));
      if (outcome instanceof ImpossibleEdit) throw outcome;
      return outcome;
    },

    files: (tree) =>
      file.read(
        (connection) =>
          new Set(
            connection
              .all<{ file: string }>(
                'SELECT DISTINCT file FROM resource WHERE tree = ? AND file IS NOT NULL',
                tree,
              )
              .map((row) => row.file),
          ),
      ),
  };
}

function stateOf(connection: Connection, tree: string): State {
  const [state = EMPTY] = connection.all<State>(
    'SELECT locks_version, bytes, properties, entries FROM tree WHERE name = ?',
    tree,
  );
  return state;
}

function commit(
  connection: Connection,
  tree: string,
  { seen, locksVersion, edits, quota }: Change,
): Outcome | ImpossibleEdit {
  const before = stateOf(connection, tree);
  const changed = [...seen].some(
    ([path, revision]) => find(connection, tree, path)?.revision !== revision,
  );
  if (changed || String(before.locks_version) !== locksVersion) return { kind: 'conflict' };

  connection.run('SAVEPOINT edits');
  const undo = <T>(outcome: T): T => {
    connection.run('ROLLBACK TO edits');
    return outcome;
  };
  const editing: Editing = {
    connection,
    tree,
    bytes: 0,
    properties: 0,
    entries: 0,
    tooLong: false,
    locks: false,
    dropped: new Set(),
  };
  try {
    for (const edit of edits) byKind(EDITS, edit, editing);
  } catch (error) {
    if (error instanceof ImpossibleEdit) return undo(error);
    throw error;
  }
  const after: State = {
    locks_version: before.locks_version + (editing.locks ? 1 : 0),
    bytes: before.bytes + editing.bytes,
    properties: before.properties + editing.properties,
    entries: before.entries + editing.entries,
  };
  if (editing.tooLong) return undo({ kind: 'too long' });
  const exceeded = (what: keyof Quota) => after[what] > Math.max(before[what], quota[what]);
  if (exceeded('bytes') || exceeded('properties') || exceeded('entries')) {
    return undo({ kind: 'full' });
  }
  connection.run(
    `INSERT OR REPLACE INTO tree (name, locks_version, bytes, properties, entries)
     VALUES (?, ?, ?, ?, ?)`,
    tree,
    after.locks_version,
    after.bytes,
    after.properties,
    after.entries,
  );
  return { kind: 'done', released: released(editing) };
}

/** Of the files that were dropped those that nothing names any more. */
function released({ connection, tree, dropped }: Editing): string[] {
  return connection
    .all<{ file: string }>(
      `SELECT value AS file FROM json_each(?2) WHERE NOT EXISTS (
         SELECT 1 FROM resource WHERE tree = ?1 AND file = value
       )`,
      tree,
      JSON.stringify([...dropped]),
    )
    .map((row) => row.file);
}
