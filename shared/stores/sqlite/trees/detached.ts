import type { Statements } from '../file/connection.ts';
import { DETACHED } from './places.ts';
import { IN } from './resource-rows.ts';

/** Rows that one transaction copies or removes. */
export const SLICE = 200;

/** In SQL: of a row that is put where no path leads to. */
const AWAY = `parent = ${DETACHED}, name = CAST(id AS TEXT)`;

/** Takes a resource out of its tree, with all that is below it. */
export function detach(connection: Statements, id: number): void {
  connection.run(`UPDATE resource SET ${AWAY} WHERE id = ?`, id);
}

/**
 * Removes up to `SLICE` rows at and below detached collections. Collections within them are detached themselves, so that no
 * row is looked at again. Returns the names of content that the rows had.
 */
export function removeSlice(
  connection: Statements,
  tree: string,
  detached: readonly number[],
): string[] {
  const files: string[] = [];
  const left = [...detached];
  for (let room = SLICE; room > 0;) {
    const id = left.at(-1);
    if (id === undefined) break;
    const rows = connection.all<[id: number, file: string | null]>(
      `SELECT id, file FROM resource WHERE ${IN} LIMIT ?`,
      tree,
      id,
      room,
    );
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
    const among = 'id IN (SELECT value FROM json_each(?))';
    connection.run(`UPDATE resource SET ${AWAY} WHERE ${among}`, JSON.stringify(within));
    connection.run(`DELETE FROM resource WHERE ${among}`, JSON.stringify(gone));
    if (isWhole) connection.run('DELETE FROM collection WHERE id = ?', id);
    left.push(...within);
    room -= rows.length + 1;
  }
  return files;
}

/** The tree of something that is detached, and up to `SLICE` of what is detached of it; undefined: nothing is. */
export function someDetached(
  connection: Statements,
): { readonly tree: string; readonly detached: readonly number[] } | undefined {
  const rows = connection.all<[tree: string, id: number]>(
    `SELECT tree, id FROM resource WHERE parent = ${DETACHED} ORDER BY id DESC LIMIT ${SLICE}`,
  );
  const tree = rows[0]?.[0];
  if (tree === undefined) return undefined;
  return { tree, detached: rows.filter(([of]) => of === tree).map(([, id]) => id) };
}

export function isDetached(connection: Statements): boolean {
  return connection.all(`SELECT 1 FROM resource WHERE parent = ${DETACHED} LIMIT 1`).length > 0;
}
