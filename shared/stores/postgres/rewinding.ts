import { StoreUnavailable } from '../outage/unavailable.ts';
import type { PostgresDatabase } from './database.ts';

const REASON =
  'PostgreSQL was restored to an earlier point: stop all servers and run `countersign restore --database`';

/**
 * Detects that a record lacks rows that this process has read, because it was restored to an earlier point, or is on a
 * promoted standby without the last commits. Refuses PostgreSQL until its epoch changes.
 */
export class Rewinding {
  readonly #database: Pick<PostgresDatabase, 'refuse'>;
  #epoch: string | undefined;

  /** `database`: the connections that are refused. */
  constructor(database: Pick<PostgresDatabase, 'refuse'>) {
    this.#database = database;
  }

  /** Call this at each look. `isBehind`: PostgreSQL lacks rows of this epoch. Throws `StoreUnavailable`. */
  check(epoch: string, isBehind: boolean): void {
    if (isBehind) this.#epoch = epoch;
    if (this.#epoch === undefined) return;
    if (this.#epoch === epoch) {
      this.#database.refuse(REASON);
      throw new StoreUnavailable(REASON);
    }
    this.#epoch = undefined;
    this.#database.refuse(undefined);
  }
}
