import type { SQLInputValue } from 'node:sqlite';
import { bytesOf } from '../../trees/entry-bytes.ts';
import type { Entry, Listed } from '../../trees/trees.ts';
import type { Connection } from '../file/connection.ts';

const KEPT = 'kind, revision, etag, type, length, file';

/** Columns of `resource` that a copy has like its original. */
export const KEPT_BY_COPIES = `${KEPT}, properties, bytes`;

/** Columns of `resource` that a listing reads. */
export const LISTED = `parent, name, created, modified, ${KEPT}`;

/** Columns of `resource` but the tree's name. */
export const COLUMNS = `properties, bytes, ${LISTED}`;

/**
 * In SQL: is below the path `?2`, which is not the root, in the tree `?1`. One range of the primary key (`0` is
 * the character after `/`), without what begins with the same name: any character may be in a path.
 */
export const BELOW = `tree = ?1 AND parent >= ?2 AND parent < ?2 || '0'
  AND (parent = ?2 OR parent > ?2 || '/')`;

/** In SQL: is at the collection `?2` and the name `?3` in the tree `?1`. */
export const AT = 'tree = ?1 AND parent = ?2 AND name = ?3';

type Common = readonly [parent: string, name: string, created: number, modified: number];

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
export type ResourceRow = readonly [properties: string, bytes: number, ...ListedRow];

/** A resource, and how many bytes it adds to those of its tree. */
interface Found {
  readonly entry: Entry;
  readonly bytes: number;
}

/** The path of the collection that a resource is in, and the name in it. */
export function split(path: string): [parent: string, name: string] {
  const slash = path.lastIndexOf('/');
  return [path.slice(0, Math.max(slash, 0)), path.slice(slash + 1)];
}

export function find(connection: Connection, tree: string, path: string): Found | undefined {
  const [row] = connection.all<ResourceRow>(
    `SELECT ${COLUMNS} FROM resource WHERE ${AT}`,
    tree,
    ...split(path),
  );
  return row && { entry: entryOf(row), bytes: row[1] };
}

/** Dead properties of most resources. */
const NONE: Entry['properties'] = Object.freeze({});

export function entryOf(row: ResourceRow): Entry {
  const [markup, , ...listed] = row;
  const properties = markup === '{}' ? NONE : JSON.parse(markup);
  return Object.assign(listedOf(listed), { properties });
}

export function listedOf(row: ListedRow): Listed {
  const [parent, name, created, modified, kind, revision, etag, type, length, file] = row;
  const path = parent === '' ? name : `${parent}/${name}`;
  const common = { path, revision, created, modified };
  return kind === 'collection'
    ? { ...common, kind }
    : { ...common, kind, etag, type, length, file };
}

/** Values of `COLUMNS`. */
export function valuesOf(entry: Entry): SQLInputValue[] {
  const { path, kind, revision, created, modified } = entry;
  const [etag, type, length, file] =
    entry.kind === 'document'
      ? [entry.etag, entry.type, entry.length, entry.file]
      : [null, null, null, null];
  return [
    JSON.stringify(entry.properties),
    bytesOf(entry),
    ...split(path),
    created,
    modified,
    kind,
    revision,
    etag,
    type,
    length,
    file,
  ];
}
