import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { tablesIn } from '../sqlite/backup/tables.ts';

/** The rows of all tables of a `state.db` that a backup has, and the numbers that were given last, as text in an order. */
export function rowsIn(path: string): ReadonlyMap<string, readonly string[]> {
  const url = pathToFileURL(path);
  // Nothing is written beside it.
  url.searchParams.set('immutable', '1');
  using database = new DatabaseSync(url, {
    readOnly: true,
    readBigInts: true,
    returnArrays: true,
  });
  const names = [...tablesIn(database).map(({ name }) => name), 'sqlite_sequence'];
  return new Map(
    names.map((name) => {
      const rows = database.prepare(`SELECT * FROM ${name}`).all() as unknown as unknown[][];
      return [name, rows.map((row) => row.map(textOf).join('|')).toSorted()];
    }),
  );
}

const textOf = (value: unknown): string =>
  value instanceof Uint8Array
    ? `octets ${Buffer.from(value).toString('hex')}`
    : `${typeof value} ${String(value)}`;
