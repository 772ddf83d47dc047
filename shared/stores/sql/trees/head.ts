import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { Quota } from '../../trees/trees.ts';
import type { Sql, Transaction } from '../sql.ts';

/** All that is known of a tree as a whole. */
export interface Head extends Quota {
  readonly locksVersion: number;
  /** How many edits there have been. */
  readonly edits: number;
  /** Undefined: nothing was ever committed. */
  readonly version: string | undefined;
}

/** A head that is locked by this transaction. */
export interface LockedHead extends Head {
  /** True if the head did not exist before, so that earlier reads may be older than the lock. */
  readonly isNew: boolean;
}

type HeadRow = readonly [
  locksVersion: number,
  bytes: number,
  properties: number,
  entries: number,
  edits: number,
  version: string | null,
];

const SELECT =
  'SELECT locks_version, bytes, properties, entries, edits, version FROM tree WHERE name = ?';

const headFrom = ([row = [0, 0, 0, 0, 0, null]]: readonly HeadRow[]): Head => {
  const [locksVersion, bytes, properties, entries, edits, version] = row;
  return { locksVersion, bytes, properties, entries, edits, version: version ?? undefined };
};

export const headOf = (sql: Sql, tree: string): Awaitable<Head> =>
  andThen(sql.all<HeadRow>(SELECT, tree), headFrom);

/** Reads and locks the head: no other transaction changes the tree before the end of this one. */
export const lockHead = (sql: Transaction, tree: string): Awaitable<LockedHead> =>
  andThen(sql.lock<HeadRow>(SELECT, tree), (rows) =>
    rows.length > 0 ? { ...headFrom(rows), isNew: false } : lockNewHead(sql, tree),
  );

async function lockNewHead(sql: Transaction, tree: string): Promise<LockedHead> {
  await sql.run(
    `INSERT INTO tree (name, locks_version, bytes, entries) VALUES (?, 0, 0, 0)
     ON CONFLICT (name) DO NOTHING`,
    tree,
  );
  return { ...headFrom(await sql.lock<HeadRow>(SELECT, tree)), isNew: true };
}

export const writeHead = (sql: Transaction, tree: string, head: Head): Awaitable<unknown> =>
  sql.later(
    `UPDATE tree
     SET locks_version = ?, bytes = ?, properties = ?, entries = ?, edits = ?, version = ?
     WHERE name = ?`,
    head.locksVersion,
    head.bytes,
    head.properties,
    head.entries,
    head.edits,
    head.version ?? null,
    tree,
  );
