import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, Pool } from 'pg';
import type { ClientBase, PoolClient, PoolConfig } from 'pg';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Need } from '../outage/need.ts';
import type { Outage } from '../outage/outage.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { NoConnection } from './no-connection.ts';
import {
  type Database,
  type Snapshot,
  type Sql,
  type Transaction,
  Undone,
  withinTransaction,
  type WriteOptions,
} from '../sql/sql.ts';
import { accessTo, enter } from './access.ts';
import { BEAT, commit, InDoubt } from './commit.ts';
import { asking, isOfStatement } from './exchange.ts';
import { migrate, type PostgresSchema } from './schema.ts';
import { type Beginning, Held, number, PARTS, PASSING, SNAPSHOT, WRITE } from './statements.ts';
import { Reads } from './reads.ts';
import { NUMBERED, type Numbered } from './text.ts';
import { Unanswered } from './unanswered.ts';
import { MOST_WAITING } from '../outage/waiting.ts';
import { forAll } from '#shared/base/for-all.ts';
import { gathered } from '#shared/base/gathered.ts';
import { Line } from '#shared/base/line.ts';
import { setImmediate } from '#shared/base/safe-timers.ts';

export interface DatabaseOptions {
  /** One server, or a primary and its standbys in any order. */
  readonly urls: readonly string[];
  /** Certificates that sign those of the servers, in PEM: each connection is encrypted and verified. */
  readonly ca?: string | undefined;
  /** The schema with the tables. */
  readonly schema: string;
  /** Connections at once. */
  readonly connections: number;
  /** Milliseconds for an answer. */
  readonly deadline: number;
  readonly monotonic: () => number;
  /** A number from 0 to 1. */
  readonly chance: () => number;
  /** Told of each failure. */
  readonly outage: Outage;
  /** Resolves once all servers hear of the rows of a table that have their numbers. */
  tell?(table: Numbered): Promise<void>;
}

/** Milliseconds in which a transaction that others were in the way of is tried again, and the longest first pause. */
const PATIENCE = 2_000;
const PAUSE = 5;
/** SQLSTATE serialization_failure and deadlock_detected: nothing was done. */
const AGAIN: ReadonlySet<string> = new Set(['40001', '40P01']);

/**
 * The part of the deadline for an answer after which PostgreSQL ends a statement: so it says which one, before we give up the
 * connection with all that travels on it.
 */
const OF_STATEMENT = 0.75;

/** The part of the connections that writes may have at once. */
const OF_WRITES = 0.75;

const tooManyWrites = () =>
  new StoreUnavailable('PostgreSQL: too many writes wait', { refused: true });

/** The pool waits for `onConnect`, which its types do not say. */
type Config = PoolConfig & { onConnect(client: ClientBase): Promise<void> };

/** A server, by its connections. */
interface Server {
  readonly pool: Pool;
  readonly unanswered: Unanswered;
}

/** A transaction that was committed: its result, and the tables whose new rows wait for their numbers. */
interface Committed<T> {
  readonly result: T;
  readonly numbered: ReadonlySet<Numbered>;
}

/** A schema of PostgreSQL, by connections of its own. */
export class PostgresDatabase implements Database, AsyncDisposable {
  readonly #options: DatabaseOptions;
  readonly #servers: readonly Server[];
  /** Gives numbers to all rows of a table that wait for one, whichever process has added them. */
  readonly #number = new Map(
    (Object.keys(NUMBERED) as Numbered[]).map((table) => [
      table,
      forAll(() => this.#again(() => this.#transaction(WRITE, (sql) => number(sql, table)))),
    ]),
  );
  /** Errors that have left their connection as it was. */
  readonly #undone = new WeakSet<object>();
  /** The place of the server that was the primary last. */
  #primary = 0;
  /** Why nothing may be done. */
  #refusal: string | undefined;

  readonly #reads = new Reads((work) =>
    this.#connected(async (client) => {
      try {
        return await work(client);
      } catch (error) {
        if (isOfStatement(error)) this.#undone.add(error as object);
        throw error;
      }
    }),
  );

  /** Writes, which may wait for each other's rows: some connections are left to reads. */
  readonly #writes: Line;
  /** Writes of one turn that may be one transaction. */
  readonly #join = gathered(
    setImmediate,
    (works: readonly ((sql: Transaction) => Awaitable<unknown>)[]) =>
      this.#write(WRITE, async (sql) => {
        const results: unknown[] = [];
        for (const work of works) results.push(await work(goingOn(sql)));
        return results;
      }),
  );

  constructor(options: DatabaseOptions) {
    const { urls, schema, connections, deadline } = options;
    this.#options = options;
    this.#writes = new Line({
      lanes: Math.max(1, Math.floor(connections * OF_WRITES)),
      most: MOST_WAITING,
      tooMany: tooManyWrites,
    });
    this.#servers = urls.map((url) => {
      const config: Config = {
        ...accessTo(url, options),
        max: connections,
        query_timeout: deadline,
        statement_timeout: Math.ceil(OF_STATEMENT * deadline),
        idle_in_transaction_session_timeout: 2 * deadline,
        onConnect: (client) => enter(client, schema),
      };
      const pool = new Pool(config);
      // An idle connection has failed: the next statement gets another one.
      pool.on('error', () => {});
      // The statement that is under way fails, too; without a listener the process would end.
      pool.on('connect', (client) => void client.on('error', () => {}));
      return { pool, unanswered: new Unanswered(config, deadline) };
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

  /** The same on the same connections, but that its last writes may be lost when the power fails. */
  get passing(): Database {
    return {
      read: (work) => this.read(work),
      snapshot: (work) => this.snapshot(work),
      recalling: () => this.recalling(),
      write: (work, options) => this.#write(PASSING, work, options),
    };
  }

  /**
   * All that `work` does on the database that it is given is one transaction; it reads what it wrote. It is not run again: it may
   * keep more than its statements.
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
      return await this.#told(await this.#waiting(() => this.#transaction(PARTS, transaction)));
    } catch (error) {
      throw error instanceof Rejected ? error.cause : error;
    }
  }

  /** Each read asks: others may have written. */
  recalling<V>() {
    return (_key: string, find: (sql: Sql) => Awaitable<V>): Promise<V> => this.read(find);
  }

  /** Resolves if the server can commit: a commit that changes nothing waits for the standbys as all do. */
  confirm(): Promise<void> {
    return this.#connected(async (client) => {
      await commit(client, [asking(BEAT)], this.#options.deadline);
    });
  }

  /** Gives numbers to rows whose process could not: what they tell is heard from then on. */
  numberAll(tables: Iterable<Numbered> = this.#number.keys()): Promise<void> {
    return this.#tell(tables);
  }

  /** Brings the tables up to date, on the primary. */
  async migrate(schema: PostgresSchema): Promise<void> {
    await this.#connected((client) => migrate(client, this.#options.schema, schema));
  }

  /** Rejects if it cannot do what is needed now. */
  async ping(need: Need): Promise<void> {
    await this.read((sql) => sql.all('SELECT 1'));
    // In one message: a process that stands still amid it would keep the row from all others.
    if (need !== 'all') return;
    await this.write((sql) => sql.last.run('UPDATE schema SET version = version'));
  }

  /** Throws if it failed in the last seconds. */
  check(): void {
    this.#options.outage.check();
  }

  /** Lets nothing be done, and says so in the log and to readiness, until it is called without a reason. */
  refuse(reason: string | undefined): void {
    if (reason !== undefined) this.#options.outage.failed(reason, this.#refusal === undefined);
    this.#refusal = reason;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Work that is still under way then is no failure of the server.
    this.#refusal ??= 'the store is closed';
    for (const { unanswered } of this.#servers) unanswered.close();
    const open = this.#servers.filter(({ pool }) => !pool.ended);
    await Promise.all(open.map(({ pool }) => pool.end()));
  }

  async #write<T>(
    beginning: Beginning,
    work: (sql: Transaction) => Awaitable<T>,
    { turn }: WriteOptions = {},
  ): Promise<T> {
    const transaction = () => this.#again(() => this.#transaction(beginning, work));
    return this.#told(await this.#waiting(transaction, turn));
  }

  /** Begins a write when it has its turn, unless it has waited for longer than for any answer. */
  #waiting<T>(transaction: () => Promise<T>, turn?: string): Promise<T> {
    const { monotonic, deadline } = this.#options;
    const since = monotonic();
    // Many rows that many write take no more turns from all other writes than one does.
    const groups = turn === undefined ? ['others'] : ['rows of many', turn];
    return this.#writes.run({ groups }, async () => {
      if (monotonic() - since > deadline) throw tooManyWrites();
      return transaction();
    });
  }

  /** Runs a transaction again while others are in its way: nothing of it was done. */
  async #again<T>(transaction: () => Promise<T>): Promise<T> {
    const { monotonic, chance } = this.#options;
    // From the first failure: that another one is in the way may show late.
    let end = Infinity;
    for (let pause = PAUSE; ; pause *= 2) {
      try {
        return await transaction();
      } catch (error) {
        end = Math.min(end, monotonic() + PATIENCE);
        if (!isAgain(error) || monotonic() + pause > end) throw error;
        await sleep(pause * chance());
      }
    }
  }

  /** Resolves to the result once the new rows have their numbers. */
  async #told<T>({ result, numbered }: Committed<T>): Promise<T> {
    try {
      await this.#tell(numbered);
    } catch (cause) {
      // The change is committed: the next one that gives numbers tells it.
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
        if (held.isLost) throw error;
        if (held.isBegun) await client.query('ROLLBACK');
        this.#undone.add(error as object);
        throw error;
      }
    });
  }

  /** Runs work on a connection, which is closed if it fails in a way that leaves it in doubt. */
  async #connected<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    if (this.#refusal !== undefined) throw new StoreUnavailable(this.#refusal, { refused: true });
    let connection: { readonly client: PoolClient; readonly place: number } | undefined;
    try {
      connection = await this.#connect();
      const result = await work(connection.client);
      connection.client.release();
      this.#options.outage.worked();
      return result;
    } catch (error) {
      if (connection) this.#release(connection.client, connection.place, error);
      throw this.#failed(error);
    }
  }

  /** Releases a connection with which something has failed. */
  #release(client: PoolClient, place: number, error: unknown): void {
    if (this.#undone.has(error as object)) return client.release();
    // Another server may be the primary by now.
    this.#primary = (place + 1) % this.#servers.length;
    const unanswered = error instanceof InDoubt ? error.commit : undefined;
    if (unanswered) void this.#servers[place]?.unanswered.hold(client, unanswered);
    else client.release(true);
  }

  /** Resolves to a connection to the primary: that of before, or the first of all that says it is one. */
  async #connect(): Promise<{ client: PoolClient; place: number }> {
    const failures: NoConnection[] = [];
    for (let n = 0; n < this.#servers.length; n += 1) {
      const place = (this.#primary + n) % this.#servers.length;
      const { pool } = this.#servers[place] as Server;
      try {
        const client = await pool.connect();
        this.#primary = place;
        return { client, place };
      } catch (error) {
        failures.push(NoConnection.to(pool.options, error));
      }
    }
    throw NoConnection.toAny(failures);
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

/** Several changes have rejected with an error of their own: no statement has failed. */
class Rejected extends Undone {}

/** SQLSTATE invalid_sql_statement_name and duplicate_prepared_statement: the connection was another one before. */
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
