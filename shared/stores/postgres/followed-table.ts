import type { Clock } from '#shared/base/clock.ts';
import { forAll } from '#shared/base/for-all.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import type { Database, Row } from '../sql/sql.ts';
import type { Rewinding } from './rewinding.ts';

const PAGE = 1_000;

/** The first and last rows, and the memory that they are of. */
export interface Extent {
  readonly epoch: string;
  /** The seq of the oldest row that is kept; the one after `last` where none is. */
  readonly first: number;
  /** The seq of the last row ever written. */
  readonly last: number;
}

/** A table to which rows are only ever added, and how a feed follows it. */
export interface Followed<R extends Row> {
  readonly table: 'revocation' | 'invalidation';
  readonly columns: string;
  /** Says behind which row to go on, at each look. `cursor`: how far the table was read; undefined: nothing was. */
  goOn(extent: Extent, cursor: number | undefined): number;
  /** Called once for each, in their order. */
  apply(seq: number, row: R): void;
}

export interface FollowOptions {
  readonly database: Pick<Database, 'read' | 'write'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly rewinding: Rewinding;
}

/** Follows a table by questions: one for all who wait. */
export class FollowedTable<R extends Row> {
  /** Afterwards all that was acknowledged before the call was applied. Rejects with `StoreUnavailable` when nobody can say. */
  readonly look = forAll(() => this.#look());
  readonly #database: Pick<Database, 'read'>;
  readonly #followed: Followed<R>;
  readonly #monotonic: () => number;
  readonly #rewinding: Rewinding;
  readonly #extentOf: string;
  readonly #rowsBehind: string;
  #closed = false;
  #cursor: number | undefined;
  /** The memory that the cursor is of. */
  #epoch: string | undefined;
  #heard = -Infinity;

  constructor({ database, clock, rewinding }: FollowOptions, followed: Followed<R>) {
    this.#database = database;
    this.#monotonic = () => clock.monotonic();
    this.#rewinding = rewinding;
    this.#followed = followed;
    const { table, columns } = followed;
    this.#extentOf = `SELECT (SELECT id FROM epoch), (SELECT min(seq) FROM ${table}), LAST(${table}, seq)`;
    this.#rowsBehind = `SELECT seq, ${columns} FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ${PAGE}`;
  }

  /** The seq of the last row that was applied. */
  get cursor(): number | undefined {
    return this.#cursor;
  }

  /** Milliseconds since the last look began. */
  get silence(): number {
    return this.#monotonic() - this.#heard;
  }

  close(): void {
    this.#closed = true;
    this.#heard = -Infinity;
  }

  async #look(): Promise<void> {
    const { table, goOn, apply } = this.#followed;
    if (this.#closed) throw new StoreUnavailable(`the ${table} feed is closed`);
    const began = this.#monotonic();
    await this.#database.read(async (sql) => {
      const [found] = await sql.all<[string | null, number | null, number]>(this.#extentOf);
      const [epoch, first, last] = found ?? [null, null, 0];
      if (epoch === null) {
        throw new StoreUnavailable(
          'the store has no epoch: no authorization server has used it yet',
        );
      }
      this.#demandAhead(epoch, last);
      this.#cursor = goOn({ epoch, first: first ?? last + 1, last }, this.#cursor);
      let rows: [number, ...R][];
      do {
        rows = await sql.all<[number, ...R]>(this.#rowsBehind, this.#cursor);
        for (const [seq, ...row] of rows) {
          apply(seq, row);
          this.#cursor = seq;
        }
      } while (rows.length === PAGE);
    });
    this.#heard = began;
  }
  /** Throws where the record has forgotten rows that were applied; then nothing that was heard counts. */
  #demandAhead(epoch: string, last: number): void {
    try {
      this.#rewinding.check(epoch, epoch === this.#epoch && (this.#cursor ?? 0) > last);
      this.#epoch = epoch;
    } catch (error) {
      this.#heard = -Infinity;
      throw error;
    }
  }
}
