import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig, type PoolClient } from 'pg';
import { forAll } from '#shared/base/for-all.ts';

/**
 * Connections whose COMMIT was not answered in time. One that waits for a standby goes on in the server when its connection is
 * closed, so that each failed write would take a connection of the server away until the standby comes back. Therefore such
 * a connection keeps its place in the pool as long as the server says that it waits.
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

  /** Releases the connection once the COMMIT was answered, or nobody knows it any more. */
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

  /** Waits for none any more. */
  close(): void {
    this.#end.abort();
  }
}

/** The number of the server's process, which `pg` keeps for requests to cancel. */
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
