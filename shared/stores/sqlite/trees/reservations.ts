import type { Quota } from '../../trees/trees.ts';
import type { Statements } from '../file/connection.ts';
import { copyRow, Copying } from './copying.ts';
import { detach } from './detached.ts';
import { BUILDING, type Found, type Spot, upwards } from './places.ts';

/** Milliseconds after its last slice for which a copy counts as one that goes on. */
const LEASE = 60_000;

/** A copy that has taken its room. */
export interface ReservedCopy {
  readonly token: string;
  readonly copying: Copying;
}

/** Begins a copy where no path leads to, and takes the room that it needs. `token`: no other copy has it. */
export function beginCopy(
  connection: Statements,
  tree: string,
  source: Found,
  room: Quota,
  { at, token, now }: { readonly at: number; readonly token: string; readonly now: number },
): ReservedCopy {
  const id = copyRow(connection, source, { parent: BUILDING, name: token, at });
  connection.run(
    `INSERT INTO tree_copy (token, id, tree, source, bytes, properties, entries, until)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    token,
    id,
    tree,
    source.row,
    room.bytes,
    room.properties,
    room.entries,
    now + LEASE,
  );
  return { token, copying: new Copying(tree, source, id, at) };
}

/** Copies a slice. Returns true when nothing is left to do, or the copy is of no use any more. */
export function goOnCopying(
  connection: Statements,
  { token, copying }: ReservedCopy,
  now: number,
): boolean {
  const goesOn = connection.run(
    'UPDATE tree_copy SET until = ? WHERE token = ? AND broken = 0',
    now + LEASE,
    token,
  );
  return goesOn === 0 || copying.slice(connection);
}

/**
 * Copies of the collections that a resource is in may have it twice or not at all when it moves, and half of it when it is a
 * collection that is removed.
 */
export function breakCopies(connection: Statements, place: Spot): void {
  connection.run(
    'UPDATE tree_copy SET broken = 1 WHERE source IN (SELECT value FROM json_each(?))',
    JSON.stringify([...upwards(place)].map(({ id }) => id)),
  );
}

/**
 * Gives the room of a copy back, which is detached then. Returns whether it may be used: it was not broken, and
 * nobody has ended it before.
 */
export function endCopy(connection: Statements, token: string): boolean {
  const [row] = connection.all<
    [id: number, tree: string, bytes: number, properties: number, entries: number, broken: number]
  >(
    'DELETE FROM tree_copy WHERE token = ? RETURNING id, tree, bytes, properties, entries, broken',
    token,
  );
  if (row === undefined) return false;
  const [id, tree, bytes, properties, entries, broken] = row;
  connection.run(
    `UPDATE tree SET bytes = bytes - ?, properties = properties - ?, entries = entries - ?,
       version = lower(hex(randomblob(16)))
     WHERE name = ?`,
    bytes,
    properties,
    entries,
    tree,
  );
  detach(connection, id);
  return broken === 0;
}

/** Ends copies whose process is gone. */
export function endLeftCopies(connection: Statements, now: number): void {
  const left = connection.all<[token: string]>('SELECT token FROM tree_copy WHERE until <= ?', now);
  for (const [token] of left) endCopy(connection, token);
}

export function isLeftCopy(connection: Statements, now: number): boolean {
  return connection.all('SELECT 1 FROM tree_copy WHERE until <= ? LIMIT 1', now).length > 0;
}
