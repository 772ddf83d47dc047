import { type Random, randomId } from '#shared/base/random.ts';
import { byKind, checkEdits } from '../../trees/edits.ts';
import { propertyBytesOf } from '../../trees/entry-bytes.ts';
import {
  type Change,
  ImpossibleEdit,
  type Lock,
  type CommitOutcome,
  type Entry,
  type Quota,
  type Trees,
} from '../../trees/trees.ts';
import { LOCK_CHANGES, lockReach, reaches } from '../../trees/lock-reach.ts';
import type { Connection } from '../file/connection.ts';
import type { SqliteFile } from '../file/file.ts';
import { recalling } from '../file/recalled.ts';
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

type State = Quota & { readonly locksVersion: number };

type StateRow = readonly [locksVersion: number, bytes: number, properties: number, entries: number];

/** Bytes: with content of this length a commit is still cheaper than a file that is synced, and its folder. */
const LONGEST_CONTENT = 16 * 1024;

/** Bytes of the dead properties of an entry that is remembered. */
const FEW_PROPERTIES = 1024;

const MEMBERS = 'FROM resource WHERE tree = ? AND parent = ? AND name > ? ORDER BY name LIMIT ?';

export function sqliteTrees(file: SqliteFile, random: Random): Trees {
  const recall = recalling<Entry | undefined>(
    file,
    (entry) => entry === undefined || propertyBytesOf(entry) <= FEW_PROPERTIES,
  );
  const recallVersion = recalling<string | undefined>(file);

  return {
    longestContent: LONGEST_CONTENT,

    get: (tree, path) =>
      recall(JSON.stringify([tree, path]), (connection) => find(connection, tree, path)?.entry),

    look: (tree, paths) =>
      file.read((connection) =>
        connection.snapshot(() => {
          const { locksVersion, bytes, entries } = stateOf(connection, tree);
          return {
            entries: new Map(paths.map((path) => [path, find(connection, tree, path)?.entry])),
            locks: connection
              .all<[record: string]>('SELECT record FROM tree_lock WHERE tree = ?', tree)
              .map(([record]): Lock => JSON.parse(record)),
            locksVersion: String(locksVersion),
            usage: { bytes, entries },
          };
        }),
      ),

    version: (tree) => recallVersion(tree, (connection) => versionOf(connection, tree)),

    members: (tree, path, after, limit) =>
      file.read((connection) =>
        connection
          .all<ResourceRow>(`SELECT ${COLUMNS} ${MEMBERS}`, tree, path, after, limit)
          .map(entryOf),
      ),

    list: (tree, path, after, limit) =>
      file.read((connection) =>
        connection.snapshot(() => ({
          version: versionOf(connection, tree),
          members: connection
            .all<ListedRow>(`SELECT ${LISTED} ${MEMBERS}`, tree, path, after, limit)
            .map(listedOf),
        })),
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
      checkEdits(change.edits, LONGEST_CONTENT);
      const makesRoom = change.edits.every(({ kind }) => kind === 'remove' || kind === 'unlock');
      const version = randomId(random);
      const work = (connection: Connection) => commit(connection, tree, change, version);
      const outcome = await file.write(work, { makesRoom });
      if (outcome instanceof ImpossibleEdit) throw outcome;
      return outcome;
    },

    content: (tree, name) =>
      file.read((connection) => {
        const [row] = connection.all<[bytes: NodeJS.NonSharedUint8Array]>(
          'SELECT bytes FROM content WHERE tree = ? AND file = ?',
          tree,
          name,
        );
        if (row === undefined) return undefined;
        const [{ buffer, byteOffset, length }] = row;
        return Buffer.from(buffer, byteOffset, length);
      }),

    files: (tree) =>
      file.read(
        (connection) =>
          new Set(
            connection
              .all<[file: string]>(
                `SELECT DISTINCT file FROM resource WHERE tree = ?1 AND file IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM content WHERE tree = ?1 AND file = resource.file)`,
                tree,
              )
              .flat(),
          ),
      ),
  };
}

function stateOf(connection: Connection, tree: string): State {
  const [row = [0, 0, 0, 0]] = connection.all<StateRow>(
    'SELECT locks_version, bytes, properties, entries FROM tree WHERE name = ?',
    tree,
  );
  const [locksVersion, bytes, properties, entries] = row;
  return { locksVersion, bytes, properties, entries };
}

function versionOf(connection: Connection, tree: string): string | undefined {
  const [row] = connection.all<[version: string | null]>(
    'SELECT version FROM tree WHERE name = ?',
    tree,
  );
  return row?.[0] ?? undefined;
}

function commit(
  connection: Connection,
  tree: string,
  change: Change,
  version: string,
): CommitOutcome | ImpossibleEdit {
  const { seen, edits, quota } = change;
  const before = stateOf(connection, tree);
  const changed = [...seen].some(
    ([path, revision]) => find(connection, tree, path)?.entry.revision !== revision,
  );
  if (changed || relocked(connection, tree, change, before)) return { kind: 'conflict' };

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
    relocked: new Set(),
    dropped: new Set(),
  };
  try {
    for (const edit of edits) byKind(EDITS, edit, editing);
  } catch (error) {
    if (error instanceof ImpossibleEdit) return undo(error);
    throw error;
  }
  const after: State = {
    locksVersion: before.locksVersion + (editing.relocked.size > 0 ? 1 : 0),
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
    `INSERT OR REPLACE INTO tree (name, locks_version, bytes, properties, entries, version)
     VALUES (?, ?, ?, ?, ?, ?)`,
    tree,
    after.locksVersion,
    after.bytes,
    after.properties,
    after.entries,
    version,
  );
  rememberLocks(editing, after.locksVersion);
  return { kind: 'done', released: released(editing) };
}

/** Returns true if the locks by which the change was judged have changed since, or if that is not known any more. */
function relocked(
  connection: Connection,
  tree: string,
  change: Change,
  { locksVersion: version }: State,
): boolean {
  const seen = Number(change.locksVersion);
  if (version === seen) return false;
  const since = connection.all<[version: number, root: string]>(
    'SELECT version, root FROM tree_lock_change WHERE tree = ? AND version > ?',
    tree,
    seen,
  );
  const remembered = new Set(since.map(([at]) => at)).size;
  const reach = lockReach(change);
  return remembered !== version - seen || since.some(([, root]) => reaches(reach, root));
}

function rememberLocks({ connection, tree, relocked: roots }: Editing, version: number): void {
  if (roots.size === 0) return;
  connection.run(
    'INSERT INTO tree_lock_change (tree, version, root) SELECT ?, ?, value FROM json_each(?)',
    tree,
    version,
    JSON.stringify([...roots]),
  );
  connection.run(
    'DELETE FROM tree_lock_change WHERE tree = ? AND version <= ?',
    tree,
    version - LOCK_CHANGES,
  );
}

/** Removes dropped content that nothing names any more. Returns the names of that which is in files. */
function released({ connection, tree, dropped }: Editing): string[] {
  if (dropped.size === 0) return [];
  const among = (sql: string, names: readonly string[]) =>
    connection.all<[file: string]>(sql, tree, JSON.stringify(names)).flat();
  const unnamed = among(
    `SELECT value AS file FROM json_each(?2) WHERE NOT EXISTS (
       SELECT 1 FROM resource WHERE tree = ?1 AND file = value
     )`,
    [...dropped],
  );
  const removed = new Set(
    among(
      `DELETE FROM content WHERE tree = ?1 AND file IN (SELECT value FROM json_each(?2))
       RETURNING file`,
      unnamed,
    ),
  );
  return unnamed.filter((file) => !removed.has(file));
}
