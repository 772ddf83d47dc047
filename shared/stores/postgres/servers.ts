import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg';
import { type AccessOptions, accessTo, enter } from './access.ts';
import { InDoubt } from './commit.ts';
import { NoConnection } from './no-connection.ts';
import { Timelines } from './timelines.ts';
import { Unanswered } from './unanswered.ts';

export interface ServersOptions extends AccessOptions {
  /** One server, or a primary and its standbys in any order. */
  readonly urls: readonly string[];
  /** Connections at once. */
  readonly connections: number;
  /** Milliseconds for a connection, and for an answer. */
  readonly deadline: number;
  /** The promotions that any connection of this process has seen. */
  readonly timelines?: Timelines | undefined;
}

/**
 * The part of the deadline for an answer after which PostgreSQL ends a statement: so it says which one, before we give up the
 * connection with all that travels on it.
 */
const OF_STATEMENT = 0.75;

/** The pool waits for `onConnect`, which its types do not say. */
type Config = PoolConfig & { onConnect(client: ClientBase): Promise<void> };

/** A server, by its connections. */
interface Server {
  readonly pool: Pool;
  readonly unanswered: Unanswered;
}

/** The servers of a store, of which one is the primary. */
export class Servers {
  readonly #servers: readonly Server[];
  readonly #timelines: Timelines;
  /** Errors that have left their connection as it was. */
  readonly #kept = new WeakSet<object>();
  /** The place of the server that was the primary last. */
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
      // An idle connection has failed: the next statement gets another one.
      pool.on('error', () => {});
      // The statement that is under way fails, too; without a listener the process would end.
      pool.on('connect', (client) => void client.on('error', () => {}));
      return { pool, unanswered: new Unanswered(config, deadline) };
    });
  }

  /** Runs work on a connection to the primary, which is closed if it fails in a way that leaves it in doubt. */
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

  /** Says that an error leaves its connection as it was. */
  keep(error: unknown): void {
    this.#kept.add(error as object);
  }

  /**
   * Asks the servers that are not believed to be the primary. Resolves once all have answered, or after so many milliseconds:
   * `timelines` says then whether one of them was promoted.
   */
  async look(milliseconds: number): Promise<void> {
    const others = this.#servers.filter((_, place) => place !== this.#primary);
    const asked = others.map(async ({ pool }) => (await pool.connect()).release());
    await Promise.race([Promise.allSettled(asked), sleep(milliseconds, undefined, { ref: false })]);
  }

  /** Resolves once all connections are closed. */
  async close(): Promise<void> {
    for (const { unanswered } of this.#servers) unanswered.close();
    const open = this.#servers.filter(({ pool }) => !pool.ended);
    await Promise.all(open.map(({ pool }) => pool.end()));
  }

  /** Releases a connection with which something has failed. */
  #release(client: PoolClient, place: number, error: unknown): void {
    if (this.#kept.has(error as object)) return client.release();
    // Another server may be the primary by now.
    this.#primary = (place + 1) % this.#servers.length;
    const unanswered = error instanceof InDoubt ? error.commit : undefined;
    if (unanswered) void this.#servers[place]?.unanswered.hold(client, unanswered);
    else client.release(true);
  }

  /** Resolves to a connection to the primary: that of before, or the first of all that says it is one. */
  async #connect(): Promise<{ client: PoolClient; place: number }> {
    const failures: NoConnection[] = [];
    // Others may find it meanwhile: each server is tried once.
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

  /** Resolves to a connection to a server that was not replaced, as far as this process knows. */
  async #connectTo(pool: Pool): Promise<PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if (!this.#timelines.isFormer(client)) return client;
      client.release(true);
    }
  }
}
