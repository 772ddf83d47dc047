import { type ClientBase, DatabaseError } from 'pg';

/** On a primary, as eight hexadecimal digits: each promotion begins another one. */
const TIMELINE =
  'SELECT system_identifier::text, left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM pg_control_system()';

/** The history that a server continues: a cluster and all its standbys have one name. */
interface Timeline {
  readonly system: string;
  readonly number: number;
}

/**
 * The promotions that this process has seen. A former primary that runs on, or comes back as it was, still says that it takes
 * writes. A process that has seen the next one believes nothing of it any more, not even on connections that were open before.
 */
export class Timelines {
  readonly #latest = new Map<string, number>();
  readonly #of = new WeakMap<ClientBase, Timeline>();

  /** Notes what a new connection leads to. Rejects where that is a former primary. */
  async note(client: ClientBase): Promise<void> {
    const found = await timelineOf(client);
    if (found === undefined) return;
    const { system, number } = found;
    this.#of.set(client, found);
    if (this.isFormer(client)) throw new Error('another server was promoted in its place: stop it');
    this.#latest.set(system, number);
  }

  isFormer(client: ClientBase): boolean {
    const { system = '', number = 0 } = this.#of.get(client) ?? {};
    return number < (this.#latest.get(system) ?? 0);
  }
}

/** SQLSTATE feature_not_supported, insufficient_privilege and undefined_function: a service that replaces servers by itself. */
const UNTOLD: ReadonlySet<string> = new Set(['0A000', '42501', '42883']);

async function timelineOf(client: ClientBase): Promise<Timeline | undefined> {
  try {
    const { rows } = await client.query<[system: string, timeline: string]>({
      text: TIMELINE,
      rowMode: 'array',
    });
    const [[system, timeline] = ['', '']] = rows;
    return { system, number: Number.parseInt(timeline, 16) };
  } catch (error) {
    if (error instanceof DatabaseError && UNTOLD.has(error.code ?? '')) return undefined;
    throw error;
  }
}
