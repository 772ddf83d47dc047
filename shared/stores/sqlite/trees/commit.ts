import { byKind } from '../../trees/edits.ts';
import { LOCK_CHANGES, lockReach, reaches } from '../../trees/lock-reach.ts';
import {
  type Change,
  type CommitOutcome,
  type Edit,
  ImpossibleEdit,
  type Quota,
} from '../../trees/trees.ts';
import type { Statements } from '../file/connection.ts';
import { removeSlice } from './detached.ts';
import { Places } from './places.ts';
import { beginCopy, endCopy, type ReservedCopy } from './reservations.ts';
import { type Editing, EDITS } from './tree-edits.ts';

type State = Quota & { readonly locksVersion: number; readonly edits: number };

type StateRow = readonly [
  locksVersion: number,
  bytes: number,
  properties: number,
  entries: number,
  edits: number,
];

/** A transaction is given this besides the change. */
export interface Attempt {
  /** Another one for each attempt. */
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The large copy of the change, if it was made. */
  readonly made: ReservedCopy | undefined;
}

/** A copy that is to be made before the change is tried again. */
interface ToCopy {
  readonly kind: 'to copy';
  readonly copy: ReservedCopy;
}

export function stateOf(connection: Statements, tree: string): State {
  const [row = [0, 0, 0, 0, 0]] = connection.all<StateRow>(
    'SELECT locks_version, bytes, properties, entries, edits FROM tree WHERE name = ?',
    tree,
  );
  const [locksVersion, bytes, properties, entries, edits] = row;
  return { locksVersion, bytes, properties, entries, edits };
}

export function versionOf(connection: Statements, tree: string): string | undefined {
  const [row] = connection.all<[version: string | null]>(
    'SELECT version FROM tree WHERE name = ?',
    tree,
  );
  return row?.[0] ?? undefined;
}

export function commit(
  connection: Statements,
  tree: string,
  change: Change,
  { version, now, made }: Attempt,
): CommitOutcome | ToCopy | ImpossibleEdit {
  const { seen, edits, quota } = change;
  const usable = made === undefined || endCopy(connection, made.token);
  const before = stateOf(connection, tree);
  const places = new Places(connection, tree);
  const changed = [...seen].some(
    ([path, revision]) => places.find(path)?.entry.revision !== revision,
  );
  if (!usable || changed || relocked(connection, tree, change, before)) return { kind: 'conflict' };

  connection.run('SAVEPOINT edits');
  const undo = <T>(outcome: T): T => {
    connection.run('ROLLBACK TO edits');
    return outcome;
  };
  const editing: Editing = {
    connection,
    tree,
    places,
    edit: before.edits,
    last: edits.findLast(isOfResources),
    made: made?.copying,
    unmade: undefined,
    bytes: 0,
    properties: 0,
    entries: 0,
    tooLong: false,
    relocked: new Set(),
    dropped: new Set(),
    detached: [],
  };
  try {
    for (const edit of edits) {
      editing.edit += 1;
      byKind(EDITS, edit, editing);
    }
  } catch (error) {
    if (error instanceof ImpossibleEdit) return undo(error);
    throw error;
  }
  const after: State = {
    locksVersion: before.locksVersion + (editing.relocked.size > 0 ? 1 : 0),
    bytes: before.bytes + editing.bytes,
    properties: before.properties + editing.properties,
    entries: before.entries + editing.entries,
    edits: editing.edit,
  };
  if (editing.tooLong) return undo({ kind: 'too long' });
  const exceeded = (what: keyof Quota) => after[what] > Math.max(before[what], quota[what]);
  if (exceeded('bytes') || exceeded('properties') || exceeded('entries')) {
    return undo({ kind: 'full' });
  }
  const { unmade, last } = editing;
  if (unmade !== undefined && last?.kind === 'copy') {
    undo(undefined);
    const more = (what: keyof Quota) => Math.max(0, editing[what]);
    const room = { bytes: more('bytes'), properties: more('properties'), entries: more('entries') };
    writeState(connection, tree, version, {
      locksVersion: before.locksVersion,
      bytes: before.bytes + room.bytes,
      properties: before.properties + room.properties,
      entries: before.entries + room.entries,
      edits: before.edits,
    });
    const begun = { at: last.at, token: version, now };
    return { kind: 'to copy', copy: beginCopy(connection, tree, unmade, room, begun) };
  }
  writeState(connection, tree, version, after);
  rememberLocks(editing, after.locksVersion);
  for (const file of removeSlice(connection, tree, editing.detached)) editing.dropped.add(file);
  return { kind: 'done', released: released(connection, tree, editing.dropped) };
}

function isOfResources({ kind }: Edit): boolean {
  return kind !== 'lock' && kind !== 'unlock';
}

function writeState(connection: Statements, tree: string, version: string, state: State): void {
  connection.run(
    `INSERT OR REPLACE INTO tree (name, locks_version, bytes, properties, entries, edits, version)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    tree,
    state.locksVersion,
    state.bytes,
    state.properties,
    state.entries,
    state.edits,
    version,
  );
}

/** Returns true if the locks by which the change was judged have changed since, or if that is not known any more. */
function relocked(
  connection: Statements,
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
export function released(
  connection: Statements,
  tree: string,
  dropped: ReadonlySet<string>,
): string[] {
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
