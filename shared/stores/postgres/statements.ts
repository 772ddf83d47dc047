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

  /** Several statements, as PostgreSQL has them, in one message. */
  async send(text: string): Promise<void> {
    await this.#answered(() => this.#client.query(text));
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
    return this.#answered(() =>
      this.#client.query({ name, text: here, values: given, rowMode: 'array', types: TYPES }),
    );
  }

  async #answered<T>(query: () => Promise<T>): Promise<T> {
    try {
      return await query();
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
 * Numbers the rows of a table, in a transaction that begins with it. A number that a transaction took for its own row could be
 * seen before a lower one, and a follower would lose that (tried: 548 of 3,200). So one process at a time numbers all rows
 * that were committed by then: the lock is a statement of its own, and the next one sees what was committed before the lock
 * was given, though both are in one message. A row that is deleted meanwhile leaves its number out.
 */
export const numbering = (table: Numbered): string => {
  const column = NUMBERED[table];
  const own = `FROM numbers WHERE name = '${table}'`;
  return `BEGIN;
    SELECT ${own} FOR UPDATE;
    WITH waiting AS (
      SELECT row, row_number() OVER (ORDER BY row) AS n FROM ${table} WHERE ${column} IS NULL
    ), given AS (
      UPDATE ${table} SET ${column} = (SELECT last ${own}) + waiting.n
      FROM waiting WHERE ${table}.row = waiting.row AND ${column} IS NULL
      RETURNING ${column}
    )
    UPDATE numbers SET last = (SELECT max(${column}) FROM given)
    WHERE name = '${table}' AND EXISTS (SELECT FROM given)`;
};
