import type { Quota } from '../../trees/trees.ts';
import { insert } from '../rows.ts';
import type { Sql, Transaction } from '../sql.ts';
import { beginCopying, copyRow, type Copying, copySlice } from './copying.ts';
import { detach } from './detached.ts';
import { BUILDING, type Found, type Spot, upwards } from './places.ts';
import { AMONG } from './resource-rows.ts';

/** Milliseconds after its last slice for which a copy counts as alive. */
const LEASE = 60_000;

/** A copy that has reserved its quota. */
export interface ReservedCopy {
  readonly token: string;
  readonly copying: Copying;
}

/** Begins a copy that no path leads to, and reserves its quota. `token`: a unique identifier. */
export async function beginCopy(
  sql: Sql,
  tree: string,
  source: Found,
  room: Quota,
  { at, token, now }: { readonly at: number; readonly token: string; readonly now: number },
): Promise<ReservedCopy> {
  const id = await copyRow(sql, source, { parent: BUILDING, name: token, at });
  const { bytes, properties, entries } = room;
  const until = now + LEASE;
  const row = { token, id, tree, source: source.row, bytes, properties, entries, until };
  await insert(sql, 'tree_copy', row);
  return { token, copying: beginCopying(tree, source, id, at) };
}

/** Copies a slice. Resolves to the new state of the copy; undefined if the copy can no longer be used. */
export async function goOnCopying(
  sql: Sql,
  { token, copying }: ReservedCopy,
  now: number,
): Promise<ReservedCopy | undefined> {
  const text = 'UPDATE tree_copy SET until = ? WHERE token = ? AND broken = 0';
  const goesOn = await sql.run(text, now + LEASE, token);
  return goesOn === 0 ? undefined : { token, copying: await copySlice(sql, copying) };
}

/** Breaks the copies of a resource's ancestors, which could otherwise have it twice, by half or not at all. */
export async function breakCopies(sql: Transaction, place: Spot): Promise<void> {
  await sql.later(
    `UPDATE tree_copy SET broken = 1 WHERE source IN ${AMONG}`,
    JSON.stringify([...upwards(place)].map(({ id }) => id)),
  );
}

/** Frees the quota of a copy and detaches it. Resolves to whether the copy is usable. `version`: of its tree. */
export async function endCopy(sql: Transaction, token: string, version: string): Promise<boolean> {
  const [row] = await sql.all<
    [id: number, tree: string, bytes: number, properties: number, entries: number, broken: number]
  >(
    'DELETE FROM tree_copy WHERE token = ? RETURNING id, tree, bytes, properties, entries, broken',
    token,
  );
  if (row === undefined) return false;
  const [id, tree, bytes, properties, entries, broken] = row;
  const text = `UPDATE tree
    SET bytes = bytes - ?, properties = properties - ?, entries = entries - ?, version = ?
    WHERE name = ?`;
  await sql.run(text, bytes, properties, entries, version, tree);
  await detach(sql, id);
  return broken === 0;
}

/** Resolves to a tree that has a copy of a dead process. */
export async function treeWithLeftCopy(sql: Sql, now: number): Promise<string | undefined> {
  const text = 'SELECT tree FROM tree_copy WHERE until <= ? LIMIT 1';
  const [row] = await sql.all<[tree: string]>(text, now);
  return row?.[0];
}

/** Ends the copies of dead processes in a tree. */
export async function endLeftCopies(
  sql: Transaction,
  tree: string,
  { now, version }: { readonly now: number; readonly version: string },
): Promise<void> {
  const text = 'SELECT token FROM tree_copy WHERE tree = ? AND until <= ?';
  const left = await sql.all<[token: string]>(text, tree, now);
  for (const [token] of left) await endCopy(sql, token, version);
}
