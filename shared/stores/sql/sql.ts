import { type Awaitable, recover } from '#shared/base/awaitable.ts';

/** A value of a column. */
export type Value = string | number | null | Uint8Array;

/** A row, in the order of the columns: objects cost twice as much. */
export type Row = readonly Value[];

/**
 * Statements in what SQLite and PostgreSQL have in common: `?` stands for the values in their order, `?1` for the first of
 * them. `EACH(?)` is the table of the texts in a JSON array, and `LAST(table, column)` the last number that was ever
 * given in the column, 0 if none was.
 */
export interface Sql {
  all<R = Row>(text: string, ...values: readonly Value[]): Awaitable<R[]>;
  /** How many rows were changed. */
  run(text: string, ...values: readonly Value[]): Awaitable<number>;
}

/** Statements of one moment. */
export interface Snapshot extends Sql {
  /** The same for the last statement: PostgreSQL ends with it, and what is asked behind it fails. */
  readonly last: Sql;
}

/** Statements of a transaction, until its end. */
export interface Transaction extends Snapshot {
  /** A statement whose answer the verb does not need: PostgreSQL is asked with the next one, or with the end. */
  later(text: string, ...values: readonly Value[]): Awaitable<unknown>;
  /** Reads rows that the transaction decides on: another one that would change them waits for its end. */
  lock<R = Row>(text: string, ...values: readonly Value[]): Awaitable<R[]>;
  /** Locks names: another transaction that locks one of them waits for the end. To be called once, after any `lock`. */
  lockNames(names: readonly string[]): Awaitable<void>;
  /** Says that the transaction ends something for good: not even damage to the disk brings it back unseen. */
  flush(): void;
}

/** The same transaction, which goes on after the last statement of a part of it. */
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
  /** May use the last room on the disk. */
  readonly makesRoom?: boolean;
  /** Names a row that many lock: such names take turns with one another, and together with all other writes. */
  readonly turn?: string;
  /**
   * May be one transaction with other such writes, all or nothing: none of them changes what others change, or decides
   * anything, so that none fails alone.
   */
  readonly joins?: boolean;
}

/** The options of a write that removes or ends something. */
export const MAKES_ROOM: WriteOptions = { makesRoom: true };

/** Reads a row of one kind, from memory where that is known to be the newest. */
export type Recall<V> = (key: string, read: (sql: Sql) => Awaitable<V>) => Promise<V>;

/** Thrown by a write that is to leave nothing behind, though nothing has failed. */
export class Undone extends Error {
  override readonly name = 'Undone';
}

/** A database that verbs are carried out on. All reject with `StoreUnavailable` alone, but for an `Undone`. */
export interface Database {
  /** Sees all that was acknowledged, and nothing that may yet fail. */
  read<T>(work: (sql: Sql) => Awaitable<T>): Promise<T>;
  /** All that `work` reads is of one moment. */
  snapshot<T>(work: (sql: Snapshot) => Awaitable<T>): Promise<T>;
  /**
   * All or nothing, and durable when this resolves. `work` awaits its statements alone, and may run again from its start
   * when nothing of it was done.
   */
  write<T>(work: (sql: Transaction) => Awaitable<T>, options?: WriteOptions): Promise<T>;
  /** `isShort`: false for a row that would take too much memory. */
  recalling<V>(isShort?: (row: V) => boolean): Recall<V>;
}

/**
 * The database that a transaction is while it goes on: what is read there is what was written, and each write is done or undone
 * alone. `failed`: the error for one of a statement.
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
          // Where even that fails the transaction cannot be committed.
          await recover<unknown>(
            () => sql.run('ROLLBACK TO part'),
            () => undefined,
          );
          throw error;
        }
      }),
  };
}
