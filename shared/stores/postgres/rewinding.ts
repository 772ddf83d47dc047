import { StoreUnavailable } from '../outage/unavailable.ts';
import type { PostgresDatabase } from './database.ts';

const REASON =
  'PostgreSQL was restored to an earlier point: stop all servers and run `countersign restore --database`';

/**
 * Notices that a record has forgotten what this process knows, because it was restored to an earlier point, or since a
 * standby without the last commits was promoted. Nothing of it is believed until its epoch is another.
 */
export class Rewinding {
  readonly #database: Pick<PostgresDatabase, 'refuse'>;
  #epoch: string | undefined;

  /** `database`: what all but the feeds use. */
  constructor(database: Pick<PostgresDatabase, 'refuse'>) {
    this.#database = database;
  }

  /** To be called at each look. `isBehind`: the record of that epoch lacks what was read from it. Throws `StoreUnavailable`. */
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
