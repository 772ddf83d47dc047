import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig, type PoolClient } from 'pg';
import { forAll } from '#shared/base/for-all.ts';

/**
 * Connections whose COMMIT was not answered in time. If such a connection is closed, the server still waits for the
 * standby. Then each failed write would use up a connection of the server. So such a connection keeps its place in the
 * pool while the server waits.
 */
export class Unanswered {
  readonly #every: number;
  readonly #waiting: () => Promise<ReadonlySet<number>>;
  readonly #end = new AbortController();

  /** `every`: milliseconds between two questions to the server. */
  constructor(config: ClientConfig, every: number) {
    this.#every = every;
    this.#waiting = forAll(() => waitingIn(config));
  }

  /** Releases the connection when COMMIT was answered, or the server no longer waits. */
  async hold(client: PoolClient, commit: Promise<unknown>): Promise<void> {
    const answered = commit.then(
      () => true,
      () => true,
    );
    const { signal } = this.#end;
    const pause = () => sleep(this.#every, false, { signal }).catch(() => true);
    while (!(await Promise.race([answered, pause()]))) {
      const waiting = await this.#waiting().catch((): ReadonlySet<number> => new Set());
      if (!waiting.has(processOf(client))) break;
    }
    client.release(true);
  }

  close(): void {
    this.#end.abort();
  }
}

/** The server's process of a connection, which `pg` keeps to cancel requests. */
const processOf = (client: PoolClient): number =>
  (client as unknown as { readonly processID: number }).processID;

/** Resolves to the server's processes that wait for a standby. */
async function waitingIn(config: ClientConfig): Promise<ReadonlySet<number>> {
  const client = new Client(config);
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
    );
    return new Set(rows.map(({ pid }) => pid));
  } finally {
    await client.end();
  }
}
