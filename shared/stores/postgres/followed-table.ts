import type { Clock } from '#shared/base/clock.ts';
import { forAll } from '#shared/base/for-all.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import {
  type Extent,
  extentFrom,
  extentIn,
  type ExtentRow,
  type Followed,
  rowsBehind,
} from '../revocation/followed.ts';
import type { Told } from '../redis/told/told.ts';
import type { Database, Row } from '../sql/sql.ts';
import type { PostgresDatabase } from './database.ts';
import type { Rewinding } from './rewinding.ts';

const PAGE = 1_000;

export interface FollowOptions {
  readonly database: Pick<PostgresDatabase, 'read' | 'confirm' | 'look'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly rewinding: Rewinding;
  /** Notifies of new rows; undefined: the table is read. */
  readonly told: Pick<Told, 'behind' | 'confirmed' | 'isCompared' | 'recheck'> | undefined;
  /** Milliseconds without a look, after which the last look is not trusted. */
  readonly silence: number;
}

/** Follows a table by reading it, or Redis if Redis has the new rows. All waiting callers share one look. */
export class FollowedTable<R extends Row> {
  /** Resolves when all rows that were acknowledged before the call are applied. Rejects with `StoreUnavailable`. */
  readonly look = forAll(() => this.#look());
  readonly #database: Pick<Database, 'read'>;
  readonly #followed: Followed<R>;
  readonly #monotonic: () => number;
  readonly #rewinding: Rewinding;
  readonly #told: FollowOptions['told'];
  readonly #extentOf: string;
  readonly #rowsBehind: string;
  #closed = false;
  #cursor: number | undefined;
  /** The epoch of the cursor. */
  #epoch = '';
  #heard = -Infinity;

  constructor({ database, clock, rewinding, told }: FollowOptions, followed: Followed<R>) {
    this.#told = told;
    this.#database = database;
    this.#monotonic = () => clock.monotonic();
    this.#rewinding = rewinding;
    this.#followed = followed;
    const { table } = followed;
    this.#extentOf = extentIn(table);
    this.#rowsBehind = rowsBehind(table, PAGE);
  }

  /** The seq of the last applied row. */
  get cursor(): number | undefined {
    return this.#cursor;
  }

  /** Milliseconds since the last look began. */
  get silence(): number {
    return this.#monotonic() - this.#heard;
  }

  /** The time of `monotonic()` at which no row was after the cursor, as far as it is known without a read. */
  get confirmed(): number {
    const { table } = this.#followed;
    if (this.#closed) return -Infinity;
    const told = this.#told?.confirmed(table, this.#epoch, this.#cursor ?? 0) ?? -Infinity;
    return Math.max(told, this.#heard);
  }

  close(): void {
    this.#closed = true;
    this.#heard = -Infinity;
  }

  async #look(): Promise<void> {
    const { table } = this.#followed;
    if (this.#closed) throw new StoreUnavailable(`the ${table} feed is closed`);
    const began = this.#monotonic();
    const told = await this.#told?.behind(table, this.#epoch, this.#cursor ?? 0);
    if (told !== undefined && this.#cursor !== undefined) {
      this.#apply(told.rows as readonly [number, ...R][]);
      this.#cursor = told.last;
      this.#heard = began;
      return;
    }
    await this.#database.read(async (sql) => {
      const rows = await sql.all<ExtentRow>(this.#extentOf);
      if (rows[0]?.[0] !== this.#epoch) this.#heard = -Infinity;
      const extent = extentFrom(rows);
      this.#demandAhead(extent);
      this.#cursor = this.#followed.goOn(extent, this.#cursor);
      // All acknowledged rows have numbers up to the last one, so most looks end here.
      for (let isMore = this.#cursor < extent.last; isMore;) {
        const page = await sql.all<[number, ...R]>(this.#rowsBehind, this.#cursor);
        this.#apply(page);
        isMore = page.length === PAGE;
      }
      // The newest rows may be deleted, so the cursor moves to `last` even if they were not read.
      this.#cursor = Math.max(this.#cursor, extent.last);
    });
    this.#heard = began;
  }

  #apply(rows: readonly (readonly [number, ...R])[]): void {
    for (const [seq, ...row] of rows) {
      this.#followed.apply(seq, row);
      this.#cursor = seq;
    }
  }

  /** Throws if PostgreSQL lacks applied rows. Nothing is trusted until another epoch is read. */
  #demandAhead({ epoch, last }: Extent): void {
    const isBehind = epoch === this.#epoch && (this.#cursor ?? 0) > last;
    if (isBehind) this.#heard = -Infinity;
    this.#rewinding.check(epoch, isBehind);
    this.#epoch = epoch;
  }
}
