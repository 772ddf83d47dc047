import { setImmediate } from 'node:timers/promises';
import type { SQLOutputValue } from 'node:sqlite';
import type { Clock } from '#shared/base/clock.ts';
import { oncePerTurn } from '#shared/base/turn.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { Connection } from './file/connection.ts';
import { orUnavailable } from './file/write-fault.ts';
import {
  extentFrom,
  extentIn,
  type ExtentRow,
  type Followed,
  rowsBehind,
} from '../revocation/followed.ts';
import { STATE } from './schema/state.ts';

const PAGE = 1_000;
/** Pages of one look at a table that is read from its start: more would block all requests. */
const SLICE = 10;
/** Milliseconds between two checks for another file or another epoch. */
const VERIFY_EVERY = 1_000;

/** Follows a table of state.db on its own connection. A look for new rows takes about 2 us. */
export class FollowedTable<Row extends readonly SQLOutputValue[]> {
  /** Applies all committed rows, once for all requests of a turn. Throws `StoreUnavailable`. */
  readonly look = oncePerTurn(() => this.#lookAnew());
  readonly #path: string;
  readonly #clock: Clock;
  readonly #followed: Followed<Row>;
  readonly #extentOf: string;
  readonly #rowsBehind: string;
  #connection: Connection | undefined;
  #cursor: number | undefined;
  /** True until all rows after the first position were read. */
  #behind = true;
  #trusted = false;
  #closed = false;
  #heard: number;
  #confirmed = -Infinity;
  #verified: number;

  constructor(path: string, clock: Clock, followed: Followed<Row>) {
    this.#path = path;
    this.#clock = clock;
    this.#followed = followed;
    const { table } = followed;
    this.#extentOf = extentIn(table);
    this.#rowsBehind = rowsBehind(table, PAGE);
    this.#heard = this.#verified = clock.now();
  }

  /** The seq of the last applied row. */
  get cursor(): number | undefined {
    return this.#cursor;
  }

  /** Whether the last look has read all rows. */
  get trusted(): boolean {
    return this.#trusted;
  }

  /** The time of the last look, in milliseconds since the epoch. */
  get heard(): number {
    return this.#heard;
  }

  /** The time of `monotonic()` at which no row was after the cursor. */
  get confirmed(): number {
    return this.#confirmed;
  }

  /** Resolves when all rows are read, or cannot be read now. */
  async begin(): Promise<void> {
    for (let read = -1; this.#behind && (this.#cursor ?? 0) > read; await setImmediate()) {
      read = this.#cursor ?? 0;
      this.tryToLook();
    }
  }

  #lookAnew(): void {
    if (this.#closed) throw new StoreUnavailable(`the ${this.#followed.table} feed is closed`);
    try {
      orUnavailable(this.#path, () => this.#look());
    } catch (error) {
      this.#trusted = false;
      throw error;
    }
  }

  tryToLook(): void {
    try {
      this.look();
    } catch {
      // `trusted` has the result.
    }
  }

  close(): void {
    this.#closed = true;
    this.#trusted = false;
    this.#confirmed = -Infinity;
    this.#disconnect();
  }

  #look(): void {
    const [now, began] = [this.#clock.now(), this.#clock.monotonic()];
    // The distance, since a clock that is set back must not stop the verification.
    if (!this.#trusted || Math.abs(now - this.#verified) >= VERIFY_EVERY) this.#verify(now);
    this.#read();
    this.#heard = now;
    this.#confirmed = began;
    this.#trusted = true;
  }

  #verify(now: number): void {
    if (this.#connection?.moved) this.#disconnect();
    const extent = extentFrom(this.#connected().all<ExtentRow>(this.#extentOf));
    const cursor = this.#followed.goOn(extent, this.#cursor);
    if (cursor !== this.#cursor) this.#behind = true;
    this.#cursor = cursor;
    this.#verified = now;
  }

  #read(): void {
    let rows: [number, ...Row][];
    let pages = 0;
    do {
      if (this.#behind && pages === SLICE) {
        throw new StoreUnavailable(`the ${this.#followed.table}s are still being read`);
      }
      rows = this.#connected().all<[number, ...Row]>(this.#rowsBehind, this.#cursor ?? 0);
      for (const [seq, ...row] of rows) {
        this.#followed.apply(seq, row);
        this.#cursor = seq;
      }
      pages += 1;
    } while (rows.length === PAGE);
    this.#behind = false;
  }

  #connected(): Connection {
    this.#connection ??= new Connection(this.#path, STATE, { create: false });
    return this.#connection;
  }

  #disconnect(): void {
    this.#connection?.[Symbol.dispose]();
    this.#connection = undefined;
    this.#cursor = undefined;
    this.#behind = true;
  }
}
