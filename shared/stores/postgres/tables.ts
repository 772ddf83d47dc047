import type { ClientBase } from 'pg';
import type { Sql, Value } from '../sql/sql.ts';
import { NUMBERED, toServer } from './text.ts';

/** A table and its columns, in their order. */
export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** The column with a number for each row, which the database gives. */
  readonly number: string | undefined;
}

export type CopiedValue = Value | bigint;
export type CopiedRow = readonly CopiedValue[];

/** Rows that are read at once; of content, which may be long, fewer. */
const PAGE = 500;
const PAGE_OF_CONTENT = 4;
/** Rows that are written at once, and octets after which no more are added. */
const TOGETHER = 100;
const OCTETS = 2 ** 20;

const isNumbered = (name: string): name is keyof typeof NUMBERED => Object.hasOwn(NUMBERED, name);

/** Within a snapshot: the rows of a table, page by page. Integers come as they are, however large. */
export async function* pagesOf(
  sql: Sql,
  { name, columns }: CopiedTable,
): AsyncGenerator<readonly CopiedRow[]> {
  const read = columns.map(({ name: column, type }) =>
    type === 'INTEGER' ? `CAST(${column} AS text)` : column,
  );
  // Rows without a number are numbered last.
  const order = isNumbered(name) ? ` ORDER BY ${NUMBERED[name]} NULLS LAST, row` : '';
  await sql.run(
    `DECLARE ${name}_rows NO SCROLL CURSOR FOR SELECT ${read.join(', ')} FROM ${name}${order}`,
  );
  const page = `FETCH ${name === 'content' ? PAGE_OF_CONTENT : PAGE} FROM ${name}_rows`;
  for (;;) {
    const rows = await sql.all<Value[]>(page);
    if (rows.length === 0) break;
    yield rows.map((row) =>
      row.map((value, at) =>
        columns[at]?.type === 'INTEGER' && value !== null ? BigInt(String(value)) : value,
      ),
    );
  }
  await sql.run(`CLOSE ${name}_rows`);
}

/** The last number that was ever given in each table that has them. */
export async function lastNumbers(sql: Sql): Promise<readonly [table: string, last: bigint][]> {
  const rows = await sql.all<[string, string]>(
    'SELECT name, CAST(last AS text) FROM numbers WHERE last > 0',
  );
  return rows.map(([table, last]) => [table, BigInt(last)]);
}

/** Adds rows to a table that nobody else knows. */
export async function addRows(
  client: ClientBase,
  { name, columns }: CopiedTable,
  rows: Iterable<CopiedRow>,
): Promise<void> {
  const names = columns.map((column) => column.name).join(', ');
  let values: CopiedValue[] = [];
  let octets = 0;
  async function flush(): Promise<void> {
    if (values.length === 0) return;
    const places = values.map((_, at) => `$${at + 1}`);
    const tuples = Array.from(
      { length: values.length / columns.length },
      (_, row) => `(${places.slice(row * columns.length, (row + 1) * columns.length).join(', ')})`,
    );
    await client.query(`INSERT INTO ${name} (${names}) VALUES ${tuples.join(', ')}`, values);
    values = [];
    octets = 0;
  }
  for (const row of rows) {
    for (const value of row) {
      values.push(typeof value === 'bigint' ? String(value) : toServer(value));
      octets += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
    }
    if (values.length === TOGETHER * columns.length || octets >= OCTETS) await flush();
  }
  await flush();
}

/** Makes the numbers that are given next higher than all that were. `last`: those of tables that others follow. */
export async function goOnBehind(
  client: ClientBase,
  tables: readonly CopiedTable[],
  last: readonly CopiedRow[],
): Promise<void> {
  for (const [name, number] of last) {
    await client.query('UPDATE numbers SET last = $1 WHERE name = $2', [String(number), name]);
  }
  for (const { name, number } of tables) {
    if (isNumbered(name) || number === undefined) continue;
    await client.query(
      `SELECT setval(pg_get_serial_sequence($1, $2), max(${number})) FROM ${name} HAVING max(${number}) > 0`,
      [name, number],
    );
  }
}
