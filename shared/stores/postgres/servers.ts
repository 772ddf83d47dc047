import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg';
import { type AccessOptions, accessTo, enter } from './access.ts';
import { InDoubt } from './commit.ts';
import { NoConnection } from './no-connection.ts';
import { Timelines } from './timelines.ts';
import { Unanswered } from './unanswered.ts';

export interface ServersOptions extends AccessOptions {
  /** One server, or the primary and its standbys in any order. */
  readonly urls: readonly string[];
  /** Most connections. */
  readonly connections: number;
  /** Milliseconds to open a connection, and for an answer. */
  readonly deadline: number;
  /** The promotions that this process has seen. */
  readonly timelines?: Timelines | undefined;
}

/** The share of the deadline after which PostgreSQL itself ends a statement, and says which. */
const OF_STATEMENT = 0.75;

/** The pool waits for `onConnect`, but its types lack it. */
type Config = PoolConfig & { onConnect(client: ClientBase): Promise<void> };

interface Server {
  readonly pool: Pool;
  readonly unanswered: Unanswered;
}

/** The servers of a store, one of which is the primary. */
export class Servers {
  readonly #servers: readonly Server[];
  readonly #timelines: Timelines;
  /** Errors after which the connection still works. */
  readonly #kept = new WeakSet<object>();
  /** The place of the last known primary. */
  #primary = 0;

  constructor(options: ServersOptions) {
    const { urls, schema, connections, deadline, timelines = new Timelines() } = options;
    this.#timelines = timelines;
    this.#servers = urls.map((url) => {
      const config: Config = {
        ...accessTo(url, options),
        max: connections,
        query_timeout: deadline,
        statement_timeout: Math.ceil(OF_STATEMENT * deadline),
        idle_in_transaction_session_timeout: 2 * deadline,
        async onConnect(client) {
          await enter(client, schema);
          await timelines.note(client);
        },
      };
      const pool = new Pool(config);
      // An idle connection has failed. The next statement gets another connection.
      pool.on('error', () => {});
      // A running statement fails, too. Without a listener the process would end.
      pool.on('connect', (client) => void client.on('error', () => {}));
      return { pool, unanswered: new Unanswered(config, deadline) };
    });
  }

  /** Runs work on a connection to the primary. Closes the connection after an error, unless `keep` was called. */
  async use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const { client, place } = await this.#connect();
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      this.#release(client, place, error);
      throw error;
    }
  }

  /** Says that the connection still works after this error. */
  keep(error: unknown): void {
    this.#kept.add(error as object);
  }

  /** Asks all servers but the primary, for at most so long. Then `timelines` knows whether one was promoted. */
  async look(milliseconds: number): Promise<void> {
    const others = this.#servers.filter((_, place) => place !== this.#primary);
    const asked = others.map(async ({ pool }) => (await pool.connect()).release());
    await Promise.race([Promise.allSettled(asked), sleep(milliseconds, undefined, { ref: false })]);
  }

  async close(): Promise<void> {
    for (const { unanswered } of this.#servers) unanswered.close();
    const open = this.#servers.filter(({ pool }) => !pool.ended);
    await Promise.all(open.map(({ pool }) => pool.end()));
  }

  /** Releases a connection after a failure. */
  #release(client: PoolClient, place: number, error: unknown): void {
    if (this.#kept.has(error as object)) return client.release();
    // Another server may be the primary now.
    this.#primary = (place + 1) % this.#servers.length;
    const unanswered = error instanceof InDoubt ? error.commit : undefined;
    if (unanswered) void this.#servers[place]?.unanswered.hold(client, unanswered);
    else client.release(true);
  }

  /** Resolves to a connection to the last primary, or to the first server that says it is the primary. */
  async #connect(): Promise<{ client: PoolClient; place: number }> {
    const failures: NoConnection[] = [];
    // Other calls may change `#primary` meanwhile: each server is tried once.
    const first = this.#primary;
    for (let n = 0; n < this.#servers.length; n += 1) {
      const place = (first + n) % this.#servers.length;
      const { pool } = this.#servers[place] as Server;
      try {
        const client = await this.#connectTo(pool);
        this.#primary = place;
        return { client, place };
      } catch (error) {
        failures.push(NoConnection.to(pool.options, error));
      }
    }
    throw NoConnection.toAny(failures);
  }

  /** Resolves to a connection to a server that, as far as this process knows, was not replaced. */
  async #connectTo(pool: Pool): Promise<PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if (!this.#timelines.isFormer(client)) return client;
      client.release(true);
    }
  }
}
