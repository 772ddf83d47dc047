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

/** Milliseconds to wait for a lock of another process. */
export const BUSY_TIMEOUT = 2_000;
/** Milliseconds to wait while another process migrates the file. */
const MIGRATION_TIMEOUT = 600_000;
const BUSY_PAUSE = 10;
/** Pages that a file may have (https://sqlite.org/limits.html#max_page_count). */
const MOST_PAGES = 0xffff_fffe;
/** Parts of statements that SQLite writes differently (sql.ts). */
const DIALECT: readonly (readonly [written: RegExp, here: string])[] = [
  [/EACH\((\?\d*)\)/g, '(SELECT value FROM json_each($1))'],
  [/LAST\((\w+), \w+\)/g, "coalesce((SELECT seq FROM sqlite_sequence WHERE name = '$1'), 0)"],
];
const COUNT = 'UPDATE tally SET commits = commits + 1 RETURNING commits';

/** A connection to a file, which prepares each statement once. Throws the errors of node:sqlite. */
export class Connection implements Statements, Disposable {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #identity: string | undefined;
  /** Absent: the commits of this file are not counted. */
  readonly #mark: Mark | undefined;
  #flushes = false;
  #isConfined = false;
  /** The rows that this connection had changed at its last counted commit. */
  #changes: unknown = 0;
  readonly #lookAtOthers = oncePerTurn(() => this.all('PRAGMA data_version')[0]?.[0]);
  #others: unknown;
  /** The end of the transaction that is open. */
  #open: Promise<void> | undefined;
  #version: object = {};

  /**
   * Opens and migrates the file. `create`: makes a missing file for its owner only (0600). Waits while another process
   * migrates. Throws `StoreUnavailable` during a restore, and if a newer, incompatible release has made the file.
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
      // Folders for temporary files may be on a full or read-only disk.
      this.#database.exec('PRAGMA temp_store = MEMORY');
      // `SqliteFile` checks the WAL before a checkpoint.
      if (schema.isCounted) this.#database.exec('PRAGMA wal_autocheckpoint = 0');
      this.#mark = schema.isCounted ? new Mark(markOf(path)) : undefined;
    } catch (cause) {
      this.#database.close();
      if (!this.moved) throw cause;
      // SQLite refuses to write to a file that a restore has moved (SQLITE_READONLY_DBMOVED).
      throw new StoreUnavailable('the store was restored meanwhile: try again', { cause });
    }
  }

  /** Whether the path names another file or none: then this connection uses the former file. */
  get moved(): boolean {
    return identity(this.#path) !== this.#identity;
  }

  /** A new object after each commit to the file by any process, and after each write of this connection. */
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
   * Runs a transaction; no other process writes meanwhile. All changes use this function: a RETURNING statement outside
   * of a transaction may hide a failed commit. False: another process was writing for `patience` milliseconds, in which
   * this process does nothing else. Returns at once if `work` does.
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

  /** Commits a transaction of `begin`, and then writes the mark: no acknowledged commit is lost unnoticed. */
  commit(): void {
    const [changes] = this.#mark ? this.all('SELECT total_changes()').flat() : [];
    const isCounted = changes !== undefined && changes !== this.#changes;
    const [commits] = isCounted ? this.all<[commits: number]>(COUNT).flat() : [];
    this.run('COMMIT');
    if (commits === undefined) return;
    // The count itself is another change.
    this.#changes = Number(changes) + 1;
    const flush = this.#flushes;
    this.#flushes = false;
    this.#mark?.write(commits, flush);
  }

  /** Marks that the transaction ends something permanently: the mark is then synced before the acknowledgement. */
  flush(): void {
    this.#flushes = true;
  }

  /** Frames in the WAL up to the last commit. */
  get frames(): number {
    return this.#wal[1];
  }

  /** Whether the file has all frames of the WAL. */
  get isInFile(): boolean {
    const [, frames, inFile] = this.#wal;
    return frames === inFile;
  }

  get #wal(): readonly [busy: number, frames: number, inFile: number] {
    const [row] = this.all<[number, number, number]>('PRAGMA wal_checkpoint(NOOP)');
    return row ?? [0, 0, 0];
  }

  /** The number of pages, in the file or only in the WAL, the number of free pages, and the bytes of a page. */
  get pages(): { readonly count: number; readonly free: number; readonly size: number } {
    const of = (pragma: string) => Number(this.all(`PRAGMA ${pragma}`)[0]?.[0]);
    return { count: of('page_count'), free: of('freelist_count'), size: of('page_size') };
  }

  /** Copies the WAL into the file. TRUNCATE also empties the WAL, unless another process reads or writes. */
  checkpoint(how: 'PASSIVE' | 'TRUNCATE'): void {
    this.#database.exec(
      `PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(${how}); PRAGMA busy_timeout = ${BUSY_TIMEOUT}`,
    );
  }

  /** False: a write that needs more pages fails as on a full disk, since the file could not take the WAL. */
  mayGrow(may: boolean): void {
    if (may && !this.#isConfined) return;
    this.#database.exec(`PRAGMA max_page_count = ${may ? MOST_PAGES : this.pages.count}`);
    this.#isConfined = !may;
  }

  /** Begins a transaction. False: another process was writing for `patience` milliseconds. */
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

  /** Begins a part of a transaction, which ends with `endPart` or `undoPart`. */
  beginPart(): void {
    this.#version = {};
    this.run('SAVEPOINT part');
  }

  endPart(): void {
    this.run('RELEASE part');
  }

  /** False: SQLite has ended the whole transaction. */
  undoPart(): boolean {
    if (!this.inTransaction) return false;
    this.run('ROLLBACK TO part');
    this.endPart();
    return true;
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** All reads of `work` are of one moment. */
  snapshot<T>(work: (held: Held) => Awaitable<T>): Awaitable<T> {
    this.run('BEGIN');
    return this.#transaction(work, () => this.run('COMMIT'));
  }

  /** Resolves at the end of an open transaction, in this turn: a read would see uncommitted rows. Then look again. */
  get open(): Promise<void> | undefined {
    return this.#open;
  }

  [Symbol.dispose](): void {
    this.#database.close();
    this.#mark?.[Symbol.dispose]();
  }

  /** Runs the work in a transaction and ends it, at once if the work returns no promise. */
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
/** Exists during a restore, from its first step to its last. */
export const restoringOf = (path: string) => `${path}.restoring`;

const loopCount = () => performance.nodeTiming.uvMetricsInfo.loopCount;

function identity(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}

/** The switch to WAL ignores the busy timeout, so the loser of two processes must try again. */
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
