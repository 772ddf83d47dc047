import { type ClientBase, DatabaseError } from 'pg';

/** In SQL on a primary: the timeline as eight hexadecimal digits. Each promotion begins a new timeline. */
const TIMELINE =
  'SELECT system_identifier::text, left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM pg_control_system()';

/** The timeline of a server, and the identifier that a cluster and all its standbys share. */
interface Timeline {
  readonly system: string;
  readonly number: number;
}

/**
 * The promotions that this process has seen. A former primary that runs on still says that it takes writes. A process
 * that has seen the next primary does not trust the former one, even on open connections.
 */
export class Timelines {
  readonly #latest = new Map<string, number>();
  readonly #of = new WeakMap<ClientBase, Timeline>();

  /** Notes the timeline of a new connection. Rejects if it leads to a former primary. */
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

/** SQLSTATE feature_not_supported, insufficient_privilege, undefined_function: a service replaces servers itself. */
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
