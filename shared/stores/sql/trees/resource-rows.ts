import { bytesOf } from '../../trees/entry-bytes.ts';
import type { Entry, Listed } from '../../trees/trees.ts';
import type { Value } from '../sql.ts';

const KEPT = 'kind, revision, etag, type, length, file';

/** Columns of `resource` that a copy has like its original. */
export const KEPT_BY_COPIES = `${KEPT}, bytes, properties`;

/** Columns of `resource` that a listing reads. */
export const LISTED = `name, created, modified, changed, ${KEPT}`;

/** Columns of `resource` but those that say where it is. */
const STATE = `changed, created, modified, ${KEPT_BY_COPIES}`;

/** Columns of `resource` but its tree and its collection. */
export const COLUMNS = `id, bytes, properties, ${LISTED}`;

/** In SQL: adds a row in a place, with the values of `stateOf`. */
export const INSERT = `INSERT INTO resource (tree, parent, name, ${STATE})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** In SQL: writes the values of `stateOf` to the row whose id is the last value. */
export const UPDATE = `UPDATE resource SET (${STATE}) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?`;

/**
 * In SQL: the members of a collection. The CAST keeps SQLite from planning anew for each value (`resource_detached`).
 */
export const IN = 'tree = ? AND parent = CAST(? AS BIGINT)';

/** In SQL: the tree of another row. Without this dependence PostgreSQL might read the whole tree. */
export const treeOf = (row: string): string => `coalesce(${row}.tree, '')`;

/** Digits of any number in `resource` and `collection`. */
export const DIGITS = 16;

/** Returns a number with a fixed number of digits, which begins a longer text. */
export const digitsOf = (number: number): string => String(number).padStart(DIGITS, '0');

/** In SQL: the ids in a JSON array. */
export const AMONG = '(SELECT CAST(value AS BIGINT) FROM EACH(?) AS ids)';

type Common = readonly [name: string, created: number, modified: number, changed: number];

/** A row of the columns `LISTED`. */
export type ListedRow =
  | readonly [...Common, kind: 'collection', revision: string, null, null, null, null]
  | readonly [
      ...Common,
      kind: 'document',
      revision: string,
      etag: string,
      type: string,
      length: number,
      file: string,
    ];

/** A row of the columns `COLUMNS`. */
export type ResourceRow = readonly [id: number, bytes: number, properties: string, ...ListedRow];

/** The path of the collection that a resource is in, and the name in it. */
export function split(path: string): [parent: string, name: string] {
  const slash = path.lastIndexOf('/');
  return [path.slice(0, Math.max(slash, 0)), path.slice(slash + 1)];
}

export const join = (parent: string, name: string): string =>
  parent === '' ? name : `${parent}/${name}`;

/** Dead properties of most resources. */
const NONE: Entry['properties'] = Object.freeze({});

/** The last edit that brought a collection or an ancestor to its path: its content counts as modified then. */
export interface Arrival {
  readonly edit: number;
  readonly at: number;
}

/** The id of a collection. SQLite may reuse the highest row id, but at a later time. */
export const collectionId = (row: number, created: number): string => `${row} ${created}`;
export const rowIn = (id: string): number => Number.parseInt(id, 10);

/** Returns the entry of a row, which is in the collection at the path `parent`. */
export function entryOf(parent: string, arrival: Arrival, row: ResourceRow): Entry {
  const [id, , markup, ...listed] = row;
  const properties = markup === '{}' ? NONE : JSON.parse(markup);
  const entry: Listed = listedOf(parent, arrival, listed);
  return entry.kind === 'collection'
    ? Object.assign(entry, { properties, id: collectionId(id, entry.created) })
    : Object.assign(entry, { properties });
}

export function listedOf(parent: string, arrival: Arrival, row: ListedRow): Listed {
  const [name, created, own, changed, kind, revision, etag, type, length, file] = row;
  const modified = arrival.edit > changed ? arrival.at : own;
  const common = { path: join(parent, name), revision, created, modified };
  return kind === 'collection'
    ? { ...common, kind }
    : { ...common, kind, etag, type, length, file };
}

/** Returns the values of `INSERT` after its place, or of `UPDATE`. */
export function stateOf(entry: Entry, edit: number): Value[] {
  const { kind, revision, created, modified } = entry;
  const [etag, type, length, file] =
    entry.kind === 'document'
      ? [entry.etag, entry.type, entry.length, entry.file]
      : [null, null, null, null];
  const properties = JSON.stringify(entry.properties);
  const state = [kind, revision, etag, type, length, file, bytesOf(entry), properties];
  return [edit, created, modified, ...state];
}
