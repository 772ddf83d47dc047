import type { Sql, Transaction } from '../sql.ts';
import { DETACHED } from './places.ts';
import { AMONG, IN } from './resource-rows.ts';

/** Rows that one transaction copies or removes. */
export const SLICE = 200;

/** In SQL: moves a row to where no path leads. */
const AWAY = `parent = ${DETACHED}, name = CAST(id AS TEXT)`;

/** Removes a resource with all its members from the paths of its tree. */
export async function detach(sql: Transaction, id: number): Promise<void> {
  await sql.later(`UPDATE resource SET ${AWAY} WHERE id = ?`, id);
}

/** Removes up to `SLICE` rows at and below detached collections. Returns the names of their content. */
export async function removeSlice(
  sql: Transaction,
  tree: string,
  detached: readonly number[],
): Promise<string[]> {
  const files: string[] = [];
  const left = [...detached];
  for (let room = SLICE; room > 0;) {
    const id = left.at(-1);
    if (id === undefined) break;
    const text = `SELECT id, file FROM resource WHERE ${IN} LIMIT ?`;
    const rows = await sql.all<[id: number, file: string | null]>(text, tree, id, room);
    const isWhole = rows.length < room;
    if (isWhole) left.pop();
    const gone = isWhole ? [id] : [];
    const within: number[] = [];
    for (const [member, file] of rows) {
      if (file === null) within.push(member);
      else {
        gone.push(member);
        files.push(file);
      }
    }
    if (within.length > 0) {
      await sql.later(`UPDATE resource SET ${AWAY} WHERE id IN ${AMONG}`, JSON.stringify(within));
    }
    await sql.later(`DELETE FROM resource WHERE id IN ${AMONG}`, JSON.stringify(gone));
    if (isWhole) await sql.later('DELETE FROM collection WHERE id = ?', id);
    left.push(...within);
    room -= rows.length + 1;
  }
  return files;
}

/** Resolves to a tree that has detached rows. */
export async function treeWithDetached(sql: Sql): Promise<string | undefined> {
  const [row] = await sql.all<[tree: string]>(
    `SELECT tree FROM resource WHERE parent = ${DETACHED} ORDER BY id DESC LIMIT 1`,
  );
  return row?.[0];
}

/** Resolves to the detached rows of a tree, among the newest of all trees. */
export async function detachedIn(sql: Sql, tree: string): Promise<number[]> {
  const rows = await sql.all<[tree: string, id: number]>(
    `SELECT tree, id FROM resource WHERE parent = ${DETACHED} ORDER BY id DESC LIMIT ${SLICE}`,
  );
  return rows.flatMap(([of, id]) => (of === tree ? [id] : []));
}
