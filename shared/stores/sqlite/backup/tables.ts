import type { DatabaseSync } from 'node:sqlite';
import { UNDOING } from '../../sql/tables.ts';

export interface Column {
  readonly name: string;
  readonly type: 'INTEGER' | 'REAL' | 'TEXT' | 'BLOB';
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The column of the row's number, which the database gives. */
  readonly number: string | undefined;
}

/** Tables of a file itself, and tables that no backup has. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'schema',
  'tally',
  'sqlite_sequence',
  'room',
  ...UNDOING,
]);

/** Returns the tables of a backup. `database`: opened with `returnArrays`. */
export function tablesIn(database: DatabaseSync): readonly Table[] {
  const names = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
    .all() as unknown as readonly [name: string][];
  const columnsOf = database.prepare('SELECT name, type, pk FROM pragma_table_info(?)');
  return names
    .flat()
    .filter((name) => !LEFT_OUT.has(name))
    .map((table) => {
      const columns = columnsOf.all(table) as unknown as readonly [
        name: string,
        type: Column['type'],
        key: number | bigint,
      ][];
      const [[key, type] = [], ...others] = columns.filter(([, , place]) => place > 0);
      return {
        name: table,
        columns: columns.map(([name, of]) => ({ name, type: of })),
        number: type === 'INTEGER' && others.length === 0 ? key : undefined,
      };
    });
}
