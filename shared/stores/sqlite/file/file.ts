import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { type Awaitable, isPromise } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import { type Log, silentLog } from '#shared/base/log.ts';
import { Outage } from '../../outage/outage.ts';
import type { Need } from '../../outage/need.ts';
import type { StoreUnavailable } from '../../outage/unavailable.ts';
import { Connection } from './connection.ts';
import { endIfDamaged, lookBefore, lookMeanwhile } from './damage.ts';
import { type Database, Undone, withinTransaction, type WriteOptions } from '../../sql/sql.ts';
import { Held, type Statements } from './held.ts';
import { recalling, type SqliteRecall } from './recalled.ts';
import { ifPossible, Room } from './room.ts';
import type { Schema } from './schema.ts';
import { Turns } from './turns.ts';
import { DISK_FULL, isDamage, orUnavailable, unavailable, writeFault } from './write-fault.ts';
import { commitGroup, type Outcome, type Write } from './write-group.ts';
import { WriteQueue } from './write-queue.ts';
import { setImmediate } from '#shared/base/safe-timers.ts';

/** Milliseconds for which `together` waits for other writers, and between two attempts. */
const LONGEST_WAIT = 30_000;
const PAUSE = 5;
/** Frames after which a WAL is checked and copied into the file, and transactions between two looks at their number. */
const LONGEST_WAL = 1_000;
const LOOK_EVERY = 8;

/**
 * A file of the embedded store. It follows its path: if a restore moves another file there, the next write and the
 * reads of the next turn use the new file.
 */
export class SqliteFile implements Database, AsyncDisposable {
  readonly path: string;
  readonly schema: Schema;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #room: Room;
  readonly #queue: WriteQueue;
  readonly #turns: Turns;
  readonly #reading: Outage;
  readonly #writing: Outage;
  #connection: Connection | undefined;
  #transactions = 0;
  /** Whether this turn of the event loop has checked for another file. */
  #looked = false;
  #closed = false;
  /** The file has unreadable pages: it fails until the path names another file. */
  #damaged = false;
  /** The last failure. Writes that fail together share it, so that the disk is probed once. */
  #failure: StoreUnavailable | undefined;

  /** Creates a missing file. `log`: gets the begin and the end of failures. */
  constructor(path: string, schema: Schema, clock: Clock, log: Log = silentLog) {
    this.path = path;
    this.schema = schema;
    this.#clock = clock;
    this.#log = log;
    const outage = (what: string) =>
      new Outage(`${schema.file}, ${what}`, log, () => clock.monotonic());
    this.#reading = outage('reading');
    this.#writing = outage('writing');
    this.#room = new Room(path, clock);
    this.#connection = orUnavailable(path, () => {
      const connection = this.#room.toOpen(() => this.#open({ create: true }));
      if (!this.#room.look()) this.#keepRoom(connection);
      return connection;
    });
    this.#turns = new Turns(`${path}.waiting`, clock);
    this.#queue = new WriteQueue(
      (writes, patience) => this.#commit(writes, patience),
      clock,
      this.#turns,
      () => performance.nodeTiming.uvMetricsInfo.events,
    );
  }

  /** Sees all acknowledged writes, and no uncommitted ones. */
  async read<T>(work: (connection: Connection) => Awaitable<T>): Promise<T> {
    try {
      const connection = this.#connected();
      while (connection.open) await connection.open;
      const pending = work(connection);
      const found = isPromise(pending) ? await pending : pending;
      this.#worked(this.#reading);
      return found;
    } catch (cause) {
      throw this.#failed(this.#reading, cause);
    }
  }

  snapshot<T>(work: (held: Held) => Awaitable<T>): Promise<T> {
    return this.read((connection) => connection.snapshot(work));
  }

  recalling<V>(isShort?: (row: V) => boolean): SqliteRecall<V> {
    return recalling((work) => this.read(work), isShort);
  }

  /**
   * Runs `work` after this turn of the event loop, with all other waiting writes in their order and in one transaction,
   * which is durable (as `schema.synchronous` says) when this resolves. On a full disk it runs only with `makesRoom`,
   * and perhaps twice. If it throws, only its own changes are undone.
   */
  async write<T>(
    work: (held: Held) => Awaitable<T>,
    { makesRoom = this.schema.reserveFor === 'all' }: WriteOptions = {},
  ): Promise<T> {
    if (this.#closed) throw unavailable(this.path, 'closed');
    return new Promise<T>((resolve, reject) => {
      this.#queue.add({
        makesRoom,
        carryOut: work,
        succeed: (result) => resolve(result as T),
        fail: (cause) => reject(this.#failed(this.#writing, cause)),
      });
    });
  }

  /** Rejects if the file cannot do what is needed. */
  async ping(need: Need): Promise<void> {
    const version = (connection: Statements) => connection.all('PRAGMA user_version').flat()[0];
    await this.read(version);
    if (!this.#isNeeded(need)) return;
    // A write of the same value, since a full disk is not ready.
    await this.write((connection) => {
      connection.all(`PRAGMA user_version = ${Number(version(connection))}`);
    });
  }

  /** Throws if an operation failed in the last seconds, or would fail. */
  check(need: Need): void {
    this.#reading.check();
    if (!this.#isNeeded(need)) return;
    if (this.schema.reserveFor === 'removals' && this.#room.look()) {
      throw this.#failed(this.#writing, DISK_FULL);
    }
    this.#writing.check();
  }

  /** Whether the file must be writable: without it, no person can be authenticated, and so nobody can read. */
  #isNeeded(need: Need): boolean {
    return need === 'all' || this.schema.reserveFor === 'all';
  }

  /** All writes of `work` to `held` are one transaction, which reads its own writes. Others wait meanwhile. */
  async together<T>(work: (held: Database) => Promise<T>): Promise<T> {
    if (this.#closed) throw unavailable(this.path, 'closed');
    using connection = this.#attempt(
      () => new Connection(this.path, this.schema, { create: false }),
    );
    const held = withinTransaction(new Held(connection), (cause) =>
      this.#failed(this.#writing, cause),
    );
    if (this.#room.look()) throw this.#failed(this.#writing, DISK_FULL);
    await this.#begin(connection);
    try {
      const result = await work(held);
      this.#attempt(() => connection.commit());
      return result;
    } catch (error) {
      if (connection.inTransaction) connection.run('ROLLBACK');
      throw error;
    }
  }

  /** Begins a write transaction. Meanwhile other writes of this process go on. */
  async #begin(connection: Connection): Promise<void> {
    const end = this.#clock.monotonic() + LONGEST_WAIT;
    while (!this.#attempt(() => connection.begin(0))) {
      if (this.#clock.monotonic() > end) throw unavailable(this.path, 'another process is writing');
      this.#turns.ask();
      await setTimeout(PAUSE);
    }
  }

  /** Checks the WAL, and empties it unless it is in use, or the disk is full: only other programs would gain. */
  async checkpoint(): Promise<void> {
    this.#attempt(() => {
      const connection = this.#connected();
      if (this.#room.look()) ifPossible(() => this.#checkpoint(connection, 'PASSIVE'));
      else if (connection.frames > 0) {
        this.#checkpoint(connection, 'TRUNCATE');
        this.#room.missing();
        this.#keepRoom(connection);
      }
    });
  }

  /** Writes all waiting changes, unless another process blocks them for two seconds. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#queue.drain();
    try {
      // The last connection copies the WAL into the file.
      if (this.#connection?.moved === false) this.#check(this.#connection);
    } catch (cause) {
      this.#failed(this.#reading, cause);
    }
    this.#closed = true;
    this.#disconnect();
  }

  /** A `Commit`. */
  async #commit(writes: readonly Write[], patience: number): Promise<readonly Outcome[]> {
    try {
      return await this.#carryOut(writes, patience);
    } catch (cause) {
      return writes.map((write) => () => write.fail(cause));
    }
  }

  async #carryOut(writes: readonly Write[], patience: number): Promise<readonly Outcome[]> {
    // A write to a moved file would be acknowledged and lost.
    this.#looked = false;
    const connection = this.#connected();
    while (connection.open) await connection.open;
    if (this.#room.look()) return this.#useLastRoom(connection, writes, patience, DISK_FULL);
    try {
      connection.mayGrow(true);
      this.#keepRoom(connection);
      const done = await commitGroup(connection, writes, this.#clock, patience);
      this.#done(connection, writes.slice(0, done.length));
      return done;
    } catch (cause) {
      if (writeFault(this.path, cause) !== 'full') throw cause;
      this.#room.failed();
      return this.#useLastRoom(connection, writes, patience, cause);
    }
  }

  /** On a full disk: carries out the first writes if they may use the last room, otherwise refuses them. */
  async #useLastRoom(
    connection: Connection,
    writes: readonly Write[],
    patience: number,
    cause: unknown,
  ): Promise<readonly Outcome[]> {
    const isUseful = writes[0]?.makesRoom;
    const first = writes.findIndex(({ makesRoom }) => makesRoom !== isUseful);
    const run = first === -1 ? writes : writes.slice(0, first);
    if (!isUseful) return run.map((write) => () => write.fail(cause));
    const done = await this.#room.use(
      connection,
      () => this.#checkpoint(connection, 'PASSIVE'),
      () => commitGroup(connection, run, this.#clock, patience),
    );
    this.#done(connection, run.slice(0, done.length));
    return done;
  }

  #done(connection: Connection, writes: readonly Write[]): void {
    this.#transactions += 1;
    // On a full disk, removals still work, so they prove nothing.
    const isUsual = ({ makesRoom }: Write) => !makesRoom || this.schema.reserveFor === 'all';
    if (writes.some(isUsual)) this.#worked(this.#writing);
    this.#keepShort(connection);
  }

  #attempt<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw this.#failed(this.#writing, cause);
    }
  }

  #worked(outage: Outage): void {
    if (!this.#damaged) outage.worked();
  }

  #failed(outage: Outage, cause: unknown): StoreUnavailable | Undone {
    if (cause instanceof Undone) return cause;
    if (this.#failure === undefined || this.#failure.cause !== cause) {
      this.#failure = unavailable(this.path, cause);
    }
    this.#damaged ||= isDamage(cause);
    if (!this.#closed) outage.failed(this.#failure.message);
    return this.#failure;
  }

  #connected(): Connection {
    if (this.#closed) throw new Error('closed');
    if (!this.#looked) {
      if (this.#connection?.moved) this.#disconnect();
      this.#looked = true;
      setImmediate(() => (this.#looked = false));
    }
    this.#connection ??= this.#open({ create: false });
    return this.#connection;
  }

  #open(how: { readonly create: boolean }): Connection {
    const find = this.schema.isCounted ? lookBefore(this.path) : undefined;
    const connection = new Connection(this.path, this.schema, how);
    try {
      if (find) endIfDamaged(connection, find, this.#where);
      this.#check(connection);
      return connection;
    } catch (error) {
      connection[Symbol.dispose]();
      throw error;
    }
  }

  #check(connection: Connection): void {
    if (!this.schema.isCounted) return;
    endIfDamaged(connection, lookMeanwhile(this.path), this.#where);
  }

  get #where() {
    return { path: this.path, file: this.schema.file, clock: this.#clock, log: this.#log };
  }

  #checkpoint(connection: Connection, how: 'PASSIVE' | 'TRUNCATE'): void {
    this.#check(connection);
    connection.checkpoint(how);
  }

  #keepRoom(connection: Connection): void {
    ifPossible(() =>
      this.#room.keepWithin(connection, () => this.#checkpoint(connection, 'PASSIVE')),
    );
  }

  /** Does at once what SQLite would do by itself without checks. A failure is not reported to any write. */
  #keepShort(connection: Connection): void {
    try {
      ifPossible(() =>
        this.#room.bringIn(connection, () => this.#checkpoint(connection, 'PASSIVE')),
      );
      if (!this.schema.isCounted || this.#transactions % LOOK_EVERY > 0) return;
      if (connection.frames >= LONGEST_WAL) this.#checkpoint(connection, 'PASSIVE');
    } catch (cause) {
      this.#failed(this.#writing, cause);
    }
  }

  #disconnect(): void {
    this.#connection?.[Symbol.dispose]();
    this.#connection = undefined;
    this.#damaged = false;
  }
}
