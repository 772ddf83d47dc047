import type { Awaitable } from '#shared/base/awaitable.ts';
import { boundsOf, type NameRange } from '#shared/base/name-range.ts';
import {
  type Database,
  MAKES_ROOM,
  type Row,
  type Sql,
  type Transaction,
  type Value,
} from './sql.ts';

/** How many rows `slices` reads at a time. */
export const SLICE = 250;

type Columns = Readonly<Record<string, Value>>;

type Conflict = 'ON CONFLICT DO NOTHING' | `ON CONFLICT (${string}) DO UPDATE SET ${string}`;

/** Returns the statement that adds a row, and its values. */
export function insertion(
  table: string,
  row: Columns,
  more: '' | Conflict = '',
): [text: string, ...values: Value[]] {
  const names = Object.keys(row);
  const places = names.map(() => '?').join(', ');
  const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places}) ${more}`;
  return [text, ...Object.values(row)];
}

/** Adds a row. Resolves to how many were added. */
export const insert = (sql: Sql, ...added: Parameters<typeof insertion>): Awaitable<number> =>
  sql.run(...insertion(...added));

/** Adds a row unless one of its keys is taken. Resolves to whether it was added. */
export const insertNew = async (sql: Sql, table: string, row: Columns): Promise<boolean> =>
  (await insert(sql, table, row, 'ON CONFLICT DO NOTHING')) === 1;

/** Adds a row, or replaces the values of the row with the same `key`. */
export function put(sql: Sql, table: string, key: string, row: Columns): Awaitable<number> {
  const others = Object.keys(row).filter((name) => name !== key);
  const values = others.map((name) => `${name} = excluded.${name}`).join(', ');
  return insert(sql, table, row, `ON CONFLICT (${key}) DO UPDATE SET ${values}`);
}

const changed = (database: Database, text: string, values: readonly Value[]) =>
  database.write(
    (sql) => sql.last.run(text, ...values),
    text.startsWith('DELETE') ? MAKES_ROOM : {},
  );

/** Runs a statement as a transaction. A statement that deletes may use the reserved space of the disk. */
export async function change(
  database: Database,
  text: string,
  ...values: readonly Value[]
): Promise<void> {
  await changed(database, text, values);
}

/** Runs a statement as a transaction. Resolves to whether it has changed a row. */
export const changes = async (
  database: Database,
  text: string,
  ...values: readonly Value[]
): Promise<boolean> => (await changed(database, text, values)) > 0;

export const first = async <R = Row>(
  sql: Sql,
  text: string,
  ...values: readonly Value[]
): Promise<R | undefined> => (await sql.all<R>(text, ...values))[0];

/** Reads rows as objects: the members of each have the names of the columns. */
export async function objects<T>(
  sql: Sql,
  columns: string,
  rest: string,
  ...values: readonly Value[]
): Promise<T[]> {
  const names = columns.split(', ');
  const rows = await sql.all(`SELECT ${columns} ${rest}`, ...values);
  return rows.map((row) => Object.fromEntries(row.map((value, n) => [names[n], value])) as T);
}

type Stored = readonly [record: string];

/** The part of a statement after the name of its table, and its values. */
type Rest = readonly [rest: string, ...values: readonly Value[]];

/** Reads the rows of a table whose column `record` has an object in JSON. */
export function recordsIn<T>(table: string) {
  const recordOf = ([record]: Stored): T => JSON.parse(record);
  const text = (rest: string) => `SELECT record FROM ${table} ${rest}`;
  const all = async (sql: Sql, ...[rest, ...values]: Rest): Promise<T[]> =>
    (await sql.all<Stored>(text(rest), ...values)).map(recordOf);
  return {
    all,
    async find(sql: Sql, ...[rest, ...values]: Rest): Promise<T | undefined> {
      const [row] = await sql.all<Stored>(text(rest), ...values);
      return row && recordOf(row);
    },
    /** Reads and locks a row on which the transaction decides. */
    async lock(sql: Transaction, ...[rest, ...values]: Rest): Promise<T | undefined> {
      const [row] = await sql.lock<Stored>(text(rest), ...values);
      return row && recordOf(row);
    },
    /** Reads the rows after a position in the order of some columns; the position has the values of these columns. */
    page(
      sql: Sql,
      order: string,
      after: readonly Value[] | undefined,
      limit: number,
    ): Promise<T[]> {
      const places = after?.map(() => '?').join(', ');
      const behind = after === undefined ? '' : `WHERE (${order}) > (${places})`;
      return all(sql, `${behind} ORDER BY ${order} LIMIT ?`, ...(after ?? []), limit);
    },
    /** Yields all rows in slices, in the order of some columns. `placeOf`: returns their values. */
    slices(database: Database, order: string, placeOf: (record: T) => readonly Value[]) {
      return slices<T>((last) =>
        database.read((sql) => this.page(sql, order, last && placeOf(last), SLICE)),
      );
    },
  };
}

/** Returns the end of a query for a range of names in `column`, and its values: ORDER BY and LIMIT included. */
export function inRange(
  column: string,
  range: NameRange,
): readonly [clause: string, ...values: (string | number)[]] {
  const { from, inclusive, before } = boundsOf(range);
  const end = before === undefined ? '' : `AND ${column} < ?`;
  return [
    `WHERE ${column} ${inclusive ? '>=' : '>'} ? ${end} ORDER BY ${column} LIMIT ?`,
    from,
    ...(before === undefined ? [] : [before]),
    range.limit,
  ];
}

/**
 * Returns the end of a query for the rows with a key that begins with `start`, each once, of very many some, and its
 * values. `keys`: the table of the keys, which names each row by the same `column`.
 */
export const havingKey = (
  column: string,
  keys: string,
  start: string,
): readonly [clause: string, ...values: (string | number)[]] => {
  const [range, ...values] = inRange('key', { prefix: start, limit: SLICE });
  return [`WHERE ${column} IN (SELECT ${column} FROM ${keys} ${range})`, ...values];
};

/** Yields the slices that `next` finds, each after the last row of the one before, until a slice is empty. */
export async function* slices<T>(
  next: (last: T | undefined) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let slice = await next(undefined); slice.length > 0; slice = await next(slice.at(-1))) {
    yield slice;
  }
}
