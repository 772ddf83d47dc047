import { allOf } from '#shared/base/awaitable.ts';
import { byKind } from '../../trees/edits.ts';
import { LOCK_CHANGES, lockReach, reaches } from '../../trees/lock-reach.ts';
import {
  type Change,
  type CommitOutcome,
  type Edit,
  ImpossibleEdit,
  type Quota,
} from '../../trees/trees.ts';
import { type Sql, type Transaction, Undone } from '../sql.ts';
import { removeSlice } from './detached.ts';
import { type Head, headOf, lockHead, writeHead } from './head.ts';
import { type Found, Places } from './places.ts';
import { beginCopy, endCopy, type ReservedCopy } from './reservations.ts';
import { treeOf } from './resource-rows.ts';
import { NOTHING, plus } from './sums.ts';
import { type Editing, EDITS } from './tree-edits.ts';

/** The data that a transaction gets besides the change. */
export interface Attempt {
  /** A new version for each attempt. */
  readonly version: string;
  /** The large copy of the change, if it was made. */
  readonly made: ReservedCopy | undefined;
}

/** A copy that must be made before the change is tried again. */
export interface ToCopy {
  readonly kind: 'to copy';
  readonly edit: Extract<Edit, { kind: 'copy' }>;
  readonly source: Found;
  readonly room: Quota;
}

type Done = Extract<CommitOutcome, { kind: 'done' }>;

/** Why a change is not done, or not yet. */
type Refusal =
  | Exclude<CommitOutcome, Done>
  | ToCopy
  | { readonly kind: 'impossible'; readonly error: ImpossibleEdit };

class Refused extends Undone {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super();
    this.refusal = refusal;
  }
}

/** Returns the outcome of a rejected write, or throws an error that is no outcome. */
export function outcomeOf(error: unknown): Refusal {
  if (error instanceof Refused) return error.refusal;
  throw error;
}

/** Rejects if the change is not done, so that the transaction is rolled back (`outcomeOf`). */
export async function commit(
  sql: Transaction,
  tree: string,
  change: Change,
  { version, made }: Attempt,
): Promise<Done> {
  const { seen, edits, quota } = change;
  const places = new Places(sql, tree);
  const paths = new Set([...seen.keys(), ...edits.flatMap(pathPut)]);
  const [locked] = await allOf([lockHead(sql, tree), places.findAll(paths)]);
  if (locked.isNew) places.forget();
  let before: Head = locked;
  if (made !== undefined) {
    if (!(await endCopy(sql, made.token, version))) throw new Refused({ kind: 'conflict' });
    before = await headOf(sql, tree);
  }
  for (const [path, revision] of seen) {
    const found = await places.find(path);
    if (found?.entry.revision !== revision) throw new Refused({ kind: 'conflict' });
  }
  // Nearly all changes need none of these checks, and this comparison is cheaper than a query.
  if (before.locksVersion !== Number(change.locksVersion)) {
    if (await relocked(sql, tree, change, before)) throw new Refused({ kind: 'conflict' });
  }

  const editing: Editing = {
    sql,
    tree,
    places,
    edit: before.edits,
    last: edits.findLast(isOfResources),
    made: made?.copying,
    unmade: undefined,
    sums: NOTHING,
    tooLong: false,
    relocked: new Set(),
    dropped: new Set(),
    detached: [],
  };
  try {
    for (const edit of edits) {
      editing.edit += 1;
      await byKind(EDITS, edit, editing);
    }
  } catch (error) {
    throw error instanceof ImpossibleEdit ? new Refused({ kind: 'impossible', error }) : error;
  }
  const after: Head = {
    ...plus(editing.sums, before),
    locksVersion: before.locksVersion + (editing.relocked.size > 0 ? 1 : 0),
    edits: editing.edit,
    version,
  };
  if (editing.tooLong) throw new Refused({ kind: 'too long' });
  if (isTooMuch(before, editing.sums, quota)) throw new Refused({ kind: 'full' });
  const { unmade, last } = editing;
  if (unmade !== undefined && last?.kind === 'copy') {
    const more = (what: keyof Quota) => Math.max(0, editing.sums[what]);
    const room = { bytes: more('bytes'), properties: more('properties'), entries: more('entries') };
    throw new Refused({ kind: 'to copy', edit: last, source: unmade, room });
  }
  await writeHead(sql, tree, after);
  if (editing.relocked.size > 0) await rememberLocks(editing, after.locksVersion);
  if (editing.detached.length > 0) {
    for (const file of await removeSlice(sql, tree, editing.detached)) editing.dropped.add(file);
  }
  const { dropped } = editing;
  return { kind: 'done', released: await released(sql, tree, dropped) };
}

/**
 * Reserves the quota of a copy and begins it. Undefined: the source is gone, or the quota is exceeded. The end of the
 * copy checks all other conditions, since the tree may change all the time.
 */
export async function reserve(
  sql: Transaction,
  tree: string,
  { edit: { from, at }, source, room }: ToCopy,
  { token, quota, now }: { readonly token: string; readonly quota: Quota; readonly now: number },
): Promise<ReservedCopy | undefined> {
  const head = await lockHead(sql, tree);
  const found = await new Places(sql, tree).find(from);
  const isThere = found?.row === source.row && found.entry.revision === source.entry.revision;
  if (!isThere || isTooMuch(head, room, quota)) return undefined;
  await writeHead(sql, tree, { ...plus(room, head), version: token });
  return beginCopy(sql, tree, source, room, { at, token, now });
}

/** Whether a tree would exceed its quota; it may already exceed it. */
const isTooMuch = (tree: Quota, more: Quota, quota: Quota): boolean =>
  (['bytes', 'properties', 'entries'] as const).some(
    (what) => more[what] > 0 && tree[what] + more[what] > quota[what],
  );

const pathPut = (edit: Edit): string[] => (edit.kind === 'put' ? [edit.entry.path] : []);

function isOfResources({ kind }: Edit): boolean {
  return kind !== 'lock' && kind !== 'unlock';
}

/** Whether the locks by which the change was judged have changed since, or this is no longer known. */
async function relocked(
  sql: Sql,
  tree: string,
  change: Change,
  { locksVersion: version }: Head,
): Promise<boolean> {
  const seen = Number(change.locksVersion);
  const since = await sql.all<[version: number, root: string]>(
    'SELECT version, root FROM tree_lock_change WHERE tree = ? AND version > ?',
    tree,
    seen,
  );
  const remembered = new Set(since.map(([at]) => at)).size;
  const reach = lockReach(change);
  return remembered !== version - seen || since.some(([, root]) => reaches(reach, root));
}

async function rememberLocks({ sql, tree, relocked: roots }: Editing, version: number) {
  await sql.later(
    `INSERT INTO tree_lock_change (tree, version, root)
     SELECT CAST(? AS TEXT), CAST(? AS BIGINT), value FROM EACH(?) AS roots`,
    tree,
    version,
    JSON.stringify([...roots]),
  );
  await sql.later(
    'DELETE FROM tree_lock_change WHERE tree = ? AND version <= ?',
    tree,
    version - LOCK_CHANGES,
  );
}

const isNamed = (tree: string, file: string) =>
  `EXISTS (SELECT 1 FROM resource WHERE tree = ${tree} AND file = ${file})`;
const remove = (dropped: string) => `DELETE FROM content WHERE tree = ?1 AND file ${dropped}
  AND NOT ${isNamed(treeOf('content'), 'content.file')} RETURNING file`;

/** In SQL: dropped content that no row names, and its removal. One name takes a third of the time of a list. */
const ONE = {
  unnamed: `SELECT CAST(?2 AS TEXT) WHERE NOT ${isNamed('?1', '?2')}`,
  remove: remove('= ?2'),
};
const MANY = {
  unnamed: `SELECT value FROM EACH(?2) AS dropped WHERE NOT ${isNamed('?1', 'dropped.value')}`,
  remove: remove('IN EACH(?2)'),
};

/** Removes dropped content that no row names. Ends the transaction. Resolves to the names of content in files. */
export async function released(
  sql: Transaction,
  tree: string,
  dropped: ReadonlySet<string>,
): Promise<string[]> {
  const [only] = dropped;
  if (only === undefined) return [];
  const { unnamed, remove: removing } = dropped.size === 1 ? ONE : MANY;
  const names = dropped.size === 1 ? only : JSON.stringify([...dropped]);
  const [free, removed] = await allOf([
    sql.all<[file: string]>(unnamed, tree, names),
    sql.last.all<[file: string]>(removing, tree, names),
  ]);
  const rows = new Set(removed.flat());
  return free.flat().filter((file) => !rows.has(file));
}
