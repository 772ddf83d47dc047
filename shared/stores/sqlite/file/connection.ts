import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { andThen, type Awaitable, isPromise } from '#shared/base/awaitable.ts';
import { oncePerTurn } from '#shared/base/turn.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import type { Row, Value } from '../../sql/sql.ts';
import { Held, type Statements } from './held.ts';
import { Mark } from './mark.ts';
import { migrate } from './migrate.ts';
import type { Schema } from './schema.ts';
import { isBusy } from './write-fault.ts';

/** How long whatever needs a lock of another process waits for it, in milliseconds. */
export const BUSY_TIMEOUT = 2_000;
/** How long an opening waits for a process that brings the schema up to date, in milliseconds. */
const MIGRATION_TIMEOUT = 600_000;
const BUSY_PAUSE = 10;
/** Pages that a file may have (https://sqlite.org/limits.html#max_page_count). */
const MOST_PAGES = 0xffff_fffe;
/** Parts of statements that SQLite writes in another way than the verbs do (sql.ts). */
const DIALECT: readonly (readonly [written: RegExp, here: string])[] = [
  [/EACH\((\?\d*)\)/g, '(SELECT value FROM json_each($1))'],
  [/LAST\((\w+), \w+\)/g, "coalesce((SELECT seq FROM sqlite_sequence WHERE name = '$1'), 0)"],
];
const COUNT = 'UPDATE tally SET commits = commits + 1 RETURNING commits';

/** One connection to one file, with its statements prepared once. Throws what node:sqlite throws. */
export class Connection implements Statements, Disposable {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #identity: string | undefined;
  /** Absent: nobody counts the commits of this file. */
  readonly #mark: Mark | undefined;
  #flushes = false;
  #isConfined = false;
  /** Rows that this connection had changed by its last commit that is counted. */
  #changes: unknown = 0;
  readonly #lookAtOthers = oncePerTurn(() => this.all('PRAGMA data_version')[0]?.[0]);
  #others: unknown;
  /** The end of the transaction that is open. */
  #open: Promise<void> | undefined;
  #version: object = {};

  /**
   * Brings the file's schema up to date. `create`: makes the file, for its owner only (0600), when
   * it is missing. Waits while another process does it. Throws `StoreUnavailable` when the schema is
   * newer than this release knows, and not compatible with it, and during a restore.
   */
  constructor(path: string, schema: Schema, { create }: { readonly create: boolean }) {
    if (existsSync(restoringOf(path))) {
      throw new StoreUnavailable(
        '`countersign restore` is at work here or was interrupted: wait for it, or run it again',
      );
    }
    if (create) closeSync(openSync(path, 'a', 0o600));
    else if (!existsSync(path)) throw new Error('there is no such file');
    this.#path = path;
    this.#identity = identity(path);
    this.#database = new DatabaseSync(path, {
      timeout: MIGRATION_TIMEOUT,
      returnArrays: true,
    });
    try {
      migrate(this.#database, schema);
      this.#database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
      enterWal(this.#database);
      this.#database.exec(`PRAGMA synchronous = ${schema.synchronous}`);
      // Folders for temporary files may be on a full disk, or on none that can be written to.
      this.#database.exec('PRAGMA temp_store = MEMORY');
      // `SqliteFile` checks the WAL before.
      if (schema.isCounted) this.#database.exec('PRAGMA wal_autocheckpoint = 0');
      this.#mark = schema.isCounted ? new Mark(markOf(path)) : undefined;
    } catch (cause) {
      this.#database.close();
      if (!this.moved) throw cause;
      // SQLite writes nothing to a file that was moved while a restore kept this waiting (SQLITE_READONLY_DBMOVED).
      throw new StoreUnavailable('the store was restored meanwhile: try again', { cause });
    }
  }

  /** Whether the path names another file by now, or none: this connection reads and writes a ghost. */
  get moved(): boolean {
    return identity(this.#path) !== this.#identity;
  }

  /**
   * Another one as soon as anything was committed to the file, by this connection or, whichever process it is
   * of, by another; and as soon as this one has written anything in a transaction that goes on.
   */
  get version(): object {
    const others = this.#lookAtOthers();
    if (others !== this.#others) this.#version = {};
    this.#others = others;
    return this.#version;
  }

  all<R = Row>(sql: string, ...values: Value[]): R[] {
    // The types of node:sqlite know no `returnArrays`.
    return this.#prepare(sql).all(...values) as unknown as R[];
  }

  run(sql: string, ...values: Value[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  /**
   * All or nothing, and one writer at a time over all processes. Every change goes through here:
   * a RETURNING statement outside a transaction may hide that its commit failed. Whether `work` was done: not
   * when another process is still writing after `patience` milliseconds, in which nothing else happens in this
   * one. At once if `work` is.
   */
  write(work: (held: Held) => Promise<void>, patience: number): Promise<boolean>;
  write(work: (held: Held) => void, patience: number): boolean;
  write(work: (held: Held) => Awaitable<void>, patience: number): Awaitable<boolean> {
    if (!this.begin(patience)) return false;
    this.#version = {};
    return andThen(
      this.#transaction(work, () => this.commit()),
      () => true,
    );
  }

  /**
   * Ends a transaction that `begin` began. What was committed is in the mark before this returns: nobody is told of a
   * commit that could be lost unseen.
   */
  commit(): void {
    const [changes] = this.#mark ? this.all('SELECT total_changes()').flat() : [];
    const isCounted = changes !== undefined && changes !== this.#changes;
    const [commits] = isCounted ? this.all<[commits: number]>(COUNT).flat() : [];
    this.run('COMMIT');
    if (commits === undefined) return;
    // The count itself is one more.
    this.#changes = Number(changes) + 1;
    const flush = this.#flushes;
    this.#flushes = false;
    this.#mark?.write(commits, flush);
  }

  /** Within a transaction that ends something for good: its mark is on the disk before the end is acknowledged. */
  flush(): void {
    this.#flushes = true;
  }

  /** Frames in the WAL up to the last commit. */
  get frames(): number {
    return this.#wal[1];
  }

  /** Whether the file has all that the WAL holds. */
  get isInFile(): boolean {
    const [, frames, inFile] = this.#wal;
    return frames === inFile;
  }

  get #wal(): readonly [busy: number, frames: number, inFile: number] {
    const [row] = this.all<[number, number, number]>('PRAGMA wal_checkpoint(NOOP)');
    return row ?? [0, 0, 0];
  }

  /** How many pages there are, whether the file has them yet or the WAL alone, how many of them are free, and bytes of each. */
  get pages(): { readonly count: number; readonly free: number; readonly size: number } {
    const of = (pragma: string) => Number(this.all(`PRAGMA ${pragma}`)[0]?.[0]);
    return { count: of('page_count'), free: of('freelist_count'), size: of('page_size') };
  }

  /** Brings what is in the WAL into the file. TRUNCATE empties the WAL, too, unless somebody else reads or writes. */
  checkpoint(how: 'PASSIVE' | 'TRUNCATE'): void {
    this.#database.exec(
      `PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(${how}); PRAGMA busy_timeout = ${BUSY_TIMEOUT}`,
    );
  }

  /** False: what needs more pages than the file has fails, as on a full disk. Else a WAL could not be brought into it. */
  mayGrow(may: boolean): void {
    if (may && !this.#isConfined) return;
    this.#database.exec(`PRAGMA max_page_count = ${may ? MOST_PAGES : this.pages.count}`);
    this.#isConfined = !may;
  }

  /** Begins a transaction that ends with COMMIT or ROLLBACK. False: another process was writing for `patience` milliseconds. */
  begin(patience: number): boolean {
    this.#database.exec(`PRAGMA busy_timeout = ${patience}`);
    try {
      this.run('BEGIN IMMEDIATE');
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    }
  }

  /** Within a transaction: what follows, until `endPart` or `undoPart`, is done or undone by itself. */
  beginPart(): void {
    this.#version = {};
    this.run('SAVEPOINT part');
  }

  endPart(): void {
    this.run('RELEASE part');
  }

  /** False: SQLite has ended the transaction, too. */
  undoPart(): boolean {
    if (!this.inTransaction) return false;
    this.run('ROLLBACK TO part');
    this.endPart();
    return true;
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** All that `work` reads is of one moment. */
  snapshot<T>(work: (held: Held) => Awaitable<T>): Awaitable<T> {
    this.run('BEGIN');
    return this.#transaction(work, () => this.run('COMMIT'));
  }

  /**
   * While a transaction of `write` or `snapshot` is open: resolves at its end, which is in this turn of the event loop.
   * A read would see what may yet fail. Others may have waited, too, so that callers look again.
   */
  get open(): Promise<void> | undefined {
    return this.#open;
  }

  [Symbol.dispose](): void {
    this.#database.close();
    this.#mark?.[Symbol.dispose]();
  }

  /** Runs the work in the transaction that was begun, and ends it in every case: at once, unless the work takes longer. */
  #transaction<T>(work: (held: Held) => Awaitable<T>, commit: () => void): Awaitable<T> {
    const held = new Held(this);
    const done = (result: T): T => {
      held.end();
      commit();
      return result;
    };
    const undo = (error: unknown): never => {
      held.end();
      this.#flushes = false;
      if (this.inTransaction) this.run('ROLLBACK');
      throw error;
    };
    try {
      const pending = work(held);
      return isPromise(pending) ? this.#whileOpen(pending, done, undo) : done(pending);
    } catch (error) {
      return undo(error);
    }
  }

  async #whileOpen<T>(
    pending: Promise<T>,
    done: (result: T) => T,
    undo: (error: unknown) => never,
  ): Promise<T> {
    const { promise: open, resolve: end } = Promise.withResolvers<void>();
    this.#open = open;
    const begun = loopCount();
    try {
      const result = await pending;
      if (loopCount() !== begun) throw new Error('a transaction awaits only its own statements');
      return done(result);
    } catch (error) {
      return undo(error);
    } finally {
      this.#open = undefined;
      end();
    }
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(
        DIALECT.reduce((text, [from, to]) => text.replaceAll(from, to), sql),
      );
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

export const markOf = (path: string) => `${path}.mark`;
/** Stands beside a file from before the first step of a restore until after its last one. */
export const restoringOf = (path: string) => `${path}.restoring`;

const loopCount = () => performance.nodeTiming.uvMetricsInfo.loopCount;

function identity(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}

/** The change to WAL ignores the busy timeout: of two processes at once one is told `locked` at once. */
function enterWal(database: DatabaseSync): void {
  for (let waited = 0; ; waited += BUSY_PAUSE) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || waited >= BUSY_TIMEOUT) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE);
  }
}
