import type { SQLInputValue } from 'node:sqlite';
import type { ByKind } from '../../trees/edits.ts';
import { bytesOf, propertyBytesOf } from '../../trees/entry-bytes.ts';
import { type Edit, ImpossibleEdit } from '../../trees/trees.ts';
import type { Connection } from '../file/connection.ts';
import { AT, BELOW, COLUMNS, find, KEPT_BY_COPIES, split, valuesOf } from './resource-rows.ts';

/** The edits of one commit, in its transaction, and what they have come to. */
export interface Editing {
  readonly connection: Connection;
  readonly tree: string;
  /** The bytes that the edits have added. */
  bytes: number;
  properties: number;
  entries: number;
  /** Whether one has made a path that is longer than it allows. */
  tooLong: boolean;
  /** Roots of the locks that they have changed. */
  readonly relocked: Set<string>;
  /** Names of content that a resource no longer has; others still may. */
  readonly dropped: Set<string>;
}

type Counted = readonly [bytes: number, properties: number, file: string | null];

/** In SQL: the columns of `Counted`. */
const COUNTED = 'bytes, bytes - ifnull(length, 0) AS properties, file';

/** In SQL: the path of the collection of what is below `?2`, when that is at `?3`. */
const PARENT_AT_3 = '?3 || substr(parent, length(?2) + 1)';

export const EDITS: ByKind<Editing, void> = {
  put: ({ entry, content }, editing) => {
    const { connection, tree, dropped } = editing;
    const before = find(connection, tree, entry.path);
    if (before === undefined) checkPlace(editing, entry.path);
    else if (before.entry.kind !== entry.kind) {
      throw new ImpossibleEdit(`there is a ${before.entry.kind} at ${entry.path}`);
    }
    connection.run(
      `INSERT OR REPLACE INTO resource (tree, ${COLUMNS})
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      tree,
      ...valuesOf(entry),
    );
    if (content !== undefined && entry.kind === 'document') {
      connection.run(
        'INSERT OR IGNORE INTO content (tree, file, bytes) VALUES (?, ?, ?)',
        tree,
        entry.file,
        content,
      );
    }
    if (before === undefined && entry.path !== '') editing.entries += 1;
    count(editing, 1, [bytesOf(entry), propertyBytesOf(entry)]);
    if (before === undefined) return;
    const held = before.entry.kind === 'document' ? before.entry : undefined;
    count(editing, -1, [before.bytes, before.bytes - (held?.length ?? 0)]);
    if (held) dropped.add(held.file);
  },

  remove: ({ path }, editing) => {
    const { connection, tree, dropped } = editing;
    const remove = (where: string, ...values: string[]) =>
      connection.all<Counted>(
        `DELETE FROM resource WHERE ${where} RETURNING ${COUNTED}`,
        tree,
        ...values,
      );
    const removed = [...remove(AT, ...split(path)), ...remove(BELOW, path)];
    editing.entries -= removed.length;
    for (const row of removed) {
      const [bytes, properties, file] = row;
      count(editing, -1, [bytes, properties]);
      if (file !== null) dropped.add(file);
    }
  },

  move: (edit, editing) => {
    const { from, to, at } = edit;
    const { connection, tree } = editing;
    if (find(connection, tree, from) === undefined) return;
    checkFree(editing, to);
    editing.tooLong ||= isTooLong(editing, edit);
    connection.run(
      `UPDATE resource SET parent = ?4, name = ?5, modified = ?6 WHERE ${AT}`,
      tree,
      ...split(from),
      ...split(to),
      at,
    );
    connection.run(
      `UPDATE resource SET parent = ${PARENT_AT_3}, modified = ?4 WHERE ${BELOW}`,
      tree,
      from,
      to,
      at,
    );
  },

  copy: (edit, editing) => {
    const { from, to, deep, at } = edit;
    const { connection, tree } = editing;
    if (find(connection, tree, from) === undefined) return;
    checkFree(editing, to);
    editing.tooLong ||= isTooLong(editing, edit);
    const copy = (place: string, time: string, where: string, ...values: SQLInputValue[]) =>
      connection.all<Counted>(
        `INSERT INTO resource (tree, parent, name, created, modified, ${KEPT_BY_COPIES})
         SELECT tree, ${place}, ${time}, ${time}, ${KEPT_BY_COPIES} FROM resource WHERE ${where}
         RETURNING ${COUNTED}`,
        tree,
        ...values,
      );
    const copied = copy('?4, ?5', '?6', AT, ...split(from), ...split(to), at);
    if (deep) copied.push(...copy(`${PARENT_AT_3}, name`, '?4', BELOW, from, to, at));
    editing.entries += copied.length;
    for (const [bytes, properties] of copied) count(editing, 1, [bytes, properties]);
  },

  lock: ({ lock }, editing) => {
    editing.connection.run(
      'INSERT OR REPLACE INTO tree_lock (tree, token, record) VALUES (?, ?, ?)',
      editing.tree,
      lock.token,
      JSON.stringify(lock),
    );
    editing.relocked.add(lock.root);
  },

  unlock: ({ locks }, { connection, tree, relocked }) => {
    const removed = connection.all<[token: string]>(
      `DELETE FROM tree_lock WHERE tree = ? AND token IN (SELECT value FROM json_each(?))
       RETURNING token`,
      tree,
      JSON.stringify(locks.map(({ token }) => token)),
    );
    const gone = new Set(removed.flat());
    for (const { token, root } of locks) if (gone.has(token)) relocked.add(root);
  },
};

function count(
  editing: Editing,
  sign: 1 | -1,
  [bytes, properties]: readonly [bytes: number, properties: number],
): void {
  editing.bytes += sign * bytes;
  editing.properties += sign * properties;
}

/** Whether some path of what arrives is longer than it may be. */
function isTooLong(
  { connection, tree }: Editing,
  edit: Extract<Edit, { kind: 'move' | 'copy' }>,
): boolean {
  const { from, to, longest } = edit;
  if (Buffer.byteLength(to) > longest) return true;
  if (edit.kind === 'copy' && !edit.deep) return false;
  const tooLong = `octet_length(${PARENT_AT_3} || '/' || name) > ?4`;
  return (
    connection.all(
      `SELECT 1 FROM resource WHERE ${BELOW} AND ${tooLong} LIMIT 1`,
      tree,
      from,
      to,
      longest,
    ).length > 0
  );
}

function checkFree(editing: Editing, path: string): void {
  if (find(editing.connection, editing.tree, path) !== undefined) {
    throw new ImpossibleEdit(`there is something at ${path}`);
  }
  checkPlace(editing, path);
}

/** Something may be added there. */
function checkPlace({ connection, tree }: Editing, path: string): void {
  const [parent] = split(path);
  if (parent !== '' && find(connection, tree, parent)?.entry.kind !== 'collection') {
    throw new ImpossibleEdit(`there is no collection at ${parent}`);
  }
}
