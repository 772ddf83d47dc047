import { DatabaseError, types } from 'pg';
import type { ClientBase, QueryArrayResult } from 'pg';
import type { Row, Sql, Transaction, Value } from '../sql/sql.ts';
import { lockOf } from './access.ts';
import { fromServer, NUMBERED, type Numbered, statementOf, toServer } from './text.ts';

const TYPES = {
  getTypeParser: (oid: number, format?: string) =>
    format === 'binary' ? types.getTypeParser(oid, 'binary') : (PARSERS[oid] ?? fromServer),
};
/** By the number of the type: bigint, integer, double precision, bytea. All else is text. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  20: Number,
  23: Number,
  701: Number,
  17: types.getTypeParser(17),
};

/** Statements on one connection. */
export class Statements implements Sql {
  /** The tables whose rows it has added wait for their numbers. */
  readonly numbered = new Set<Numbered>();
  readonly #client: ClientBase;
  #isLost = false;

  constructor(client: ClientBase) {
    this.#client = client;
  }

  /** Whether a statement was not answered. */
  get isLost(): boolean {
    return this.#isLost;
  }

  async all<R = Row>(text: string, ...values: readonly Value[]): Promise<R[]> {
    return (await this.#query(text, values)).rows as R[];
  }

  async run(text: string, ...values: readonly Value[]): Promise<number> {
    return (await this.#query(text, values)).rowCount ?? 0;
  }

  async #query(text: string, values: readonly Value[]): Promise<QueryArrayResult> {
    const { name, text: here, parameters, numbered } = statementOf(text);
    if (numbered) this.numbered.add(numbered);
    const given = parameters.map(({ place, isList }) => {
      const value = values[place];
      return isList
        ? (JSON.parse(String(value)) as unknown[]).map(String).map(toServer)
        : toServer(value);
    });
    try {
      return await this.#client.query({
        name,
        text: here,
        values: given,
        rowMode: 'array',
        types: TYPES,
      });
    } catch (error) {
      this.#isLost ||= !(error instanceof DatabaseError) || error.severity !== 'ERROR';
      throw error;
    }
  }
}

export class Held extends Statements implements Transaction {
  readonly #schema: string;

  constructor(client: ClientBase, schema: string) {
    super(client);
    this.#schema = schema;
  }

  lock<R = Row>(text: string, ...values: readonly Value[]): Promise<R[]> {
    return this.all<R>(`${text} FOR UPDATE`, ...values);
  }

  async lockNames(names: readonly string[]): Promise<void> {
    const keys = [...new Set(names)].map((name) => lockOf(this.#schema, name)).toSorted();
    for (const key of keys) await this.all('SELECT 1 FROM pg_advisory_xact_lock(?::bigint)', key);
  }

  /** A commit is on the disk of all that it waits for. */
  flush(): void {}
}

/**
 * Returns what numbers the rows of a table, in a transaction. A number that a transaction took for its own row could be seen before
 * a lower one, and a follower would lose that (tried: 548 of 3,200). So one process at a time numbers all rows that were committed
 * by then: each statement sees what was committed before the lock was given.
 */
export function numberIn(table: Numbered): (sql: Transaction) => Promise<void> {
  const column = NUMBERED[table];
  return async (sql) => {
    const [[last] = [0]] = await sql.lock<[number]>(
      'SELECT last FROM numbers WHERE name = ?',
      table,
    );
    const given = await sql.all<[number]>(
      `UPDATE ${table} SET ${column} = CAST(? AS BIGINT) + waiting.n
       FROM (SELECT row, row_number() OVER (ORDER BY row) AS n FROM ${table} WHERE ${column} IS NULL) AS waiting
       WHERE ${table}.row = waiting.row AND ${column} IS NULL
       RETURNING ${column}`,
      last,
    );
    // One that was deleted meanwhile leaves its number out.
    const next = given.reduce((most, [number]) => Math.max(most, number), last);
    if (next > last) await sql.run('UPDATE numbers SET last = ? WHERE name = ?', next, table);
  };
}
