import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, type PoolClient } from 'pg';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Need } from '../outage/need.ts';
import type { Outage } from '../outage/outage.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { NoConnection } from './no-connection.ts';
import {
  type Database,
  goingOn,
  type Snapshot,
  type Sql,
  type Transaction,
  Undone,
  withinTransaction,
  type WriteOptions,
} from '../sql/sql.ts';
import { BEAT, commit, InDoubt } from './commit.ts';
import { asking, isOfStatement } from './exchange.ts';
import { migrate, type PostgresSchema } from './schema.ts';
import { Servers, type ServersOptions } from './servers.ts';
import { type Beginning, Held, number, PARTS, PASSING, SNAPSHOT, WRITE } from './statements.ts';
import { Reads } from './reads.ts';
import { NUMBERED, type Numbered } from './text.ts';
import { MOST_WAITING } from '../outage/waiting.ts';
import { forAll } from '#shared/base/for-all.ts';
import { batched } from '#shared/base/batched.ts';
import { Line } from '#shared/base/line.ts';
import { setImmediate } from '#shared/base/safe-timers.ts';

export interface DatabaseOptions extends ServersOptions {
  readonly monotonic: () => number;
  /** A number from 0 to 1. */
  readonly chance: () => number;
  /** Told of each failure. */
  readonly outage: Outage;
  /** Resolves when all servers know the numbered rows of a table. */
  tell?(table: Numbered): Promise<void>;
}

/** Milliseconds in which a transaction is repeated if others were in its way, and the longest first pause. */
const PATIENCE = 2_000;
const PAUSE = 5;
const LONGEST_PAUSE = 160;
/** SQLSTATE serialization_failure and deadlock_detected: the transaction had no effect. */
const AGAIN: ReadonlySet<string> = new Set(['40001', '40P01']);

/** The share of the connections that writes may use at once. */
const OF_WRITES = 0.75;

const tooManyWrites = () =>
  new StoreUnavailable('PostgreSQL: too many writes wait', { refused: true });

/** A committed transaction: its result, and the tables with rows that wait for numbers. */
interface Committed<T> {
  readonly result: T;
  readonly numbered: ReadonlySet<Numbered>;
}

/** A schema of PostgreSQL, with its own connections. */
export class PostgresDatabase implements Database, AsyncDisposable {
  readonly #options: DatabaseOptions;
  readonly #servers: Servers;
  /** Numbers all rows of a table that wait for a number, of any process. */
  readonly #number = new Map(
    (Object.keys(NUMBERED) as Numbered[]).map((table) => [
      table,
      forAll(() => this.#again(() => this.#transaction(WRITE, (sql) => number(sql, table)))),
    ]),
  );
  /** The reason why nothing may be done. */
  #refusal: string | undefined;

  readonly #reads = new Reads((work) =>
    this.#connected(async (client) => {
      try {
        return await work(client);
      } catch (error) {
        if (isOfStatement(error)) this.#servers.keep(error);
        throw error;
      }
    }),
  );

  /** Writes may wait for one another's rows, so some connections are only for reads. */
  readonly #writes: Line;
  /** Joins writes of one turn of the event loop into one transaction. */
  readonly #join = batched(
    setImmediate,
    (works: readonly ((sql: Transaction) => Awaitable<unknown>)[]) =>
      this.#write(WRITE, async (sql) => {
        const results: unknown[] = [];
        for (const work of works) results.push(await work(goingOn(sql)));
        return results;
      }),
  );

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#servers = new Servers(options);
    this.#writes = new Line({
      lanes: Math.max(1, Math.floor(options.connections * OF_WRITES)),
      most: MOST_WAITING,
      tooMany: tooManyWrites,
    });
  }

  async read<T>(work: (sql: Sql) => Awaitable<T>): Promise<T> {
    try {
      return await work(this.#reads);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async snapshot<T>(work: (sql: Snapshot) => Awaitable<T>): Promise<T> {
    return (await this.#transaction(SNAPSHOT, work)).result;
  }

  write<T>(work: (sql: Transaction) => Awaitable<T>, options?: WriteOptions): Promise<T> {
    if (options?.joins) return this.#join(work) as Promise<T>;
    return this.#write(WRITE, work, options);
  }

  /** The same connections, but commits do not wait for the disk or for standbys. */
  get passing(): Database {
    return {
      read: (work) => this.read(work),
      snapshot: (work) => this.snapshot(work),
      recalling: () => this.recalling(),
      write: (work, options) => this.#write(PASSING, work, options),
    };
  }

  /**
   * All changes of `work` on `held` are one transaction, which reads its own changes. `work` runs again if other writers
   * were in its way, since the transaction then had no effect.
   */
  async together<T>(work: (held: Database) => Promise<T>): Promise<T> {
    const transaction = async (sql: Transaction) => {
      try {
        return await work(withinTransaction(sql, (error) => this.#failed(error)));
      } catch (error) {
        throw error instanceof StoreUnavailable ? error : new Rejected('', { cause: error });
      }
    };
    try {
      const repeated = () => this.#again(() => this.#transaction(PARTS, transaction));
      return await this.#told(await this.#waiting(repeated));
    } catch (error) {
      throw error instanceof Rejected ? error.cause : error;
    }
  }

  /** Reads each time, since other processes may have written. */
  recalling<V>() {
    return (_key: string, find: (sql: Sql) => Awaitable<V>): Promise<V> => this.read(find);
  }

  /** Checks for that long whether another server was promoted. */
  look(milliseconds: number): Promise<void> {
    return this.#servers.look(milliseconds);
  }

  /** Resolves if the server can commit. The commit changes nothing, but waits for the standbys. */
  confirm(): Promise<void> {
    return this.#connected(async (client) => {
      await commit(client, [asking(BEAT)], this.#options.deadline);
    });
  }

  /** Numbers the rows of processes that could not number them. */
  numberAll(tables: Iterable<Numbered> = this.#number.keys()): Promise<void> {
    return this.#tell(tables);
  }

  /** Migrates the tables on the primary. */
  async migrate(schema: PostgresSchema): Promise<void> {
    await this.#connected((client) => migrate(client, this.#options.schema, schema));
  }

  /** Rejects if the server cannot do what is needed. */
  async ping(need: Need): Promise<void> {
    await this.read((sql) => sql.all('SELECT 1'));
    // One message: otherwise a process that hangs would keep the row from all others.
    if (need !== 'all') return;
    await this.write((sql) => sql.last.run('UPDATE schema SET version = version'));
  }

  /** Throws if an operation failed in the last seconds. */
  check(): void {
    this.#options.outage.check();
  }

  /** Refuses all operations, and logs the reason, until it is called without a reason. */
  refuse(reason: string | undefined): void {
    if (reason !== undefined) this.#options.outage.failed(reason, this.#refusal === undefined);
    this.#refusal = reason;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Work that still runs then is no failure of the server.
    this.#refusal ??= 'the store is closed';
    await this.#servers.close();
  }

  async #write<T>(
    beginning: Beginning,
    work: (sql: Transaction) => Awaitable<T>,
    { turn }: WriteOptions = {},
  ): Promise<T> {
    const transaction = () => this.#again(() => this.#transaction(beginning, work));
    return this.#told(await this.#waiting(transaction, turn));
  }

  /** Runs a write in its turn. Refuses the write if it had no turn within the deadline. */
  #waiting<T>(transaction: () => Promise<T>, turn?: string): Promise<T> {
    const { monotonic, deadline } = this.#options;
    const since = monotonic();
    // All writes with a turn together alternate with the other writes.
    const groups = turn === undefined ? ['others'] : ['rows of many', turn];
    return this.#writes.run({ groups }, async () => {
      if (monotonic() - since > deadline) throw tooManyWrites();
      return transaction();
    });
  }

  /** Repeats a transaction while others are in its way: it had no effect. */
  async #again<T>(transaction: () => Promise<T>): Promise<T> {
    const { monotonic, chance } = this.#options;
    // The time counts from the first failure, which may come late.
    let end = Infinity;
    for (let pause = PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      try {
        return await transaction();
      } catch (error) {
        end = Math.min(end, monotonic() + PATIENCE);
        if (!isAgain(error) || monotonic() + pause > end) throw error;
        await sleep(pause * chance());
      }
    }
  }

  /** Resolves to the result when the new rows have their numbers. */
  async #told<T>({ result, numbered }: Committed<T>): Promise<T> {
    try {
      await this.#tell(numbered);
    } catch (cause) {
      // The change is committed. The next process that numbers rows numbers these, too.
      throw new StoreUnavailable(`PostgreSQL: ${(cause as Error).message}`, { cause });
    }
    return result;
  }

  async #tell(tables: Iterable<Numbered>): Promise<void> {
    for (const table of tables) {
      await this.#number.get(table)?.();
      await this.#options.tell?.(table);
    }
  }

  #transaction<T>(beginning: Beginning, work: (sql: Held) => Awaitable<T>): Promise<Committed<T>> {
    return this.#connected(async (client) => {
      const held = new Held(client, beginning, this.#options);
      try {
        const result = await work(held);
        await held.end();
        return { result, numbered: held.numbered };
      } catch (error) {
        const isBegun = held.giveUp();
        if (held.isLost) throw error;
        if (isBegun) await client.query('ROLLBACK');
        this.#servers.keep(error);
        throw error;
      }
    });
  }

  async #connected<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    if (this.#refusal !== undefined) throw new StoreUnavailable(this.#refusal, { refused: true });
    try {
      const result = await this.#servers.use(work);
      this.#options.outage.worked();
      return result;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #failed(error: unknown): Error {
    if (error instanceof StoreUnavailable || error instanceof Undone) return error;
    const { code = '' } = error as { readonly code?: string };
    const failure = new StoreUnavailable(plain(error as Error, code), {
      cause: error,
      refused: !(error instanceof InDoubt),
      full: code === '53100',
    });
    if (!AGAIN.has(code)) this.#options.outage.failed(failure.message);
    return failure;
  }
}

/** The work of `together` has rejected. No statement has failed. */
class Rejected extends Undone {}

/** SQLSTATE invalid_sql_statement_name and duplicate_prepared_statement: a pooler has changed the connection. */
const POOLED: ReadonlySet<string> = new Set(['26000', '42P05']);

function plain(error: Error, code: string): string {
  if (error instanceof NoConnection) return error.message;
  const remedy = ': a pooler is in between; name PostgreSQL itself in store.urls';
  return `PostgreSQL: ${error.message}${POOLED.has(code) ? remedy : ''}`;
}

function isAgain(error: unknown): boolean {
  const cause = error instanceof StoreUnavailable ? error.cause : undefined;
  return cause instanceof DatabaseError && AGAIN.has(cause.code ?? '');
}
