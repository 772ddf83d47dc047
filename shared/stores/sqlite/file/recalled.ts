import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import type { Connection } from './connection.ts';

/** Entries of each kind. */
const CAPACITY = 2_000;
/** Characters of a key. */
const LONGEST = 512;

export type SqliteRecall<V> = (
  key: string,
  read: (connection: Connection) => Awaitable<V>,
) => Promise<V>;

interface Recalled<V> {
  readonly row: V;
}

/**
 * Reads rows of one kind, from memory while no process has committed anything to the file since they were read. The
 * absence of a row is remembered, too, so that both answers take the same time.
 */
export function recalling<V>(
  read: <T>(work: (connection: Connection) => Awaitable<T>) => Promise<T>,
  isShort: (row: V) => boolean = () => true,
): SqliteRecall<V> {
  let rows = new RecentMap<Recalled<V>>(CAPACITY);
  let of: object | undefined;

  return (key, find) =>
    read((connection) => {
      // Read before the row: the row may be newer than this version, never older.
      const { version } = connection;
      if (version !== of) rows = new RecentMap(CAPACITY);
      of = version;
      const known = rows.get(key);
      if (known !== undefined) return known.row;
      const kept = rows;
      return andThen(find(connection), (row) => {
        if (key.length <= LONGEST && isShort(row)) kept.set(key, { row });
        return row;
      });
    });
}
