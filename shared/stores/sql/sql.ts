import { type Awaitable, recover } from '#shared/base/awaitable.ts';

/** A value of a column. */
export type Value = string | number | null | Uint8Array;

/** A row, in the order of the columns: objects cost twice as much. */
export type Row = readonly Value[];

/**
 * Runs statements in the SQL that SQLite and PostgreSQL have in common. `?` stands for the values in their order, `?1`
 * for the first value. `EACH(?)` is the table of the texts in a JSON array, and `LAST(table, column)` the last number
 * that was ever given in the column, 0 if there was none.
 */
export interface Sql {
  all<R = Row>(text: string, ...values: readonly Value[]): Awaitable<R[]>;
  /** How many rows were changed. */
  run(text: string, ...values: readonly Value[]): Awaitable<number>;
}

/** Runs statements that all see the same moment. */
export interface Snapshot extends Sql {
  /** Like this object, for the last statement: PostgreSQL ends the transaction with it, and later statements fail. */
  readonly last: Sql;
}

/** Runs the statements of a transaction, until its end. */
export interface Transaction extends Snapshot {
  /** Runs a statement without an answer. PostgreSQL gets it with the next statement, or at the end. */
  later(text: string, ...values: readonly Value[]): Awaitable<unknown>;
  /** Reads and locks rows: other transactions that change them wait for the end. */
  lock<R = Row>(text: string, ...values: readonly Value[]): Awaitable<R[]>;
  /** Locks names: other transactions that lock one of them wait for the end. Call it once, after each `lock`. */
  lockNames(names: readonly string[]): Awaitable<void>;
  /** Marks that the transaction ends something permanently: even damage of the disk must not undo that unnoticed. */
  flush(): void;
}

/** The same transaction, but `last` does not end it. */
export function goingOn(sql: Transaction): Transaction {
  const parted: Transaction = {
    all: (...asked) => sql.all(...asked),
    run: (...asked) => sql.run(...asked),
    later: (...asked) => sql.later(...asked),
    lock: (...asked) => sql.lock(...asked),
    lockNames: (names) => sql.lockNames(names),
    flush: () => sql.flush(),
    get last() {
      return parted;
    },
  };
  return parted;
}

export interface WriteOptions {
  /** True if the write may use the reserved space of the disk. */
  readonly makesRoom?: boolean;
  /** Names a row that many writes lock. Writes of such names take turns with one another, and with all other writes. */
  readonly turn?: string;
  /** True if the write decides nothing, so that it may share a transaction with other such writes. */
  readonly joins?: boolean;
}

/** The options of a write that removes or ends something. */
export const MAKES_ROOM: WriteOptions = { makesRoom: true };

/** Reads a row of one kind, from memory if the cached row is known to be current. */
export type Recall<V> = (key: string, read: (sql: Sql) => Awaitable<V>) => Promise<V>;

/** Thrown by a write that must be rolled back, although nothing has failed. */
export class Undone extends Error {
  override readonly name = 'Undone';
}

/** A database that verbs are carried out on. All reject with `StoreUnavailable` alone, but for an `Undone`. */
export interface Database {
  /** Sees all that was acknowledged, and nothing that may yet fail. */
  read<T>(work: (sql: Sql) => Awaitable<T>): Promise<T>;
  /** All reads of `work` see the same moment. */
  snapshot<T>(work: (sql: Snapshot) => Awaitable<T>): Promise<T>;
  /** Does all of the work or nothing, durably. `work` awaits only its statements, and may run again from its start. */
  write<T>(work: (sql: Transaction) => Awaitable<T>, options?: WriteOptions): Promise<T>;
  /** `isShort` returns false for a row that would take too much memory. */
  recalling<V>(isShort?: (row: V) => boolean): Recall<V>;
}

/**
 * Returns a `Database` whose statements run within this open transaction. If a write fails, only that write is rolled
 * back. `failed` translates the errors.
 */
export function withinTransaction(sql: Transaction, failed: (error: unknown) => Error): Database {
  const within = goingOn(sql);
  async function attempt<T>(part: () => Awaitable<T>): Promise<T> {
    try {
      return await part();
    } catch (error) {
      throw failed(error);
    }
  }
  const read = <T>(part: (sql: Transaction) => Awaitable<T>) => attempt(() => part(within));
  return {
    read,
    snapshot: read,
    recalling: () => (_, find) => read(find),
    write: (part) =>
      attempt(async () => {
        await sql.later('SAVEPOINT part');
        try {
          const result = await part(within);
          await sql.later('RELEASE part');
          return result;
        } catch (error) {
          // If even the rollback fails, the transaction cannot be committed.
          await recover<unknown>(
            () => sql.run('ROLLBACK TO part'),
            () => undefined,
          );
          throw error;
        }
      }),
  };
}
