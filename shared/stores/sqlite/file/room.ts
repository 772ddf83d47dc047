import { closeSync, constants, fstatSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '#shared/base/clock.ts';
import { freeRoom, LEAST_ROOM } from '#shared/base/free-room.ts';
import { isOutOfRoom } from '#shared/base/out-of-room.ts';
import { BUSY_TIMEOUT, type Connection } from './connection.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { isDamage, writeFault } from './write-fault.ts';

/** Bytes of the table `room`, whose pages are reserved for necessary rows. */
const IN_FILE = 1024 * 1024;
/** Least bytes of the WAL on the disk: the pages that some thousand rows change. */
const IN_WAL = 4 * 1024 * 1024;
/** Bytes of the reserve: the pages behind the end of the file that a WAL may have. */
const SIZE = 5 * 1024 * 1024;
/** Bytes below which the disk is full for additions. Servers can still start, and people can sign in. */
const LEAST = 1024 * 1024;
/** Bytes that remain after making room. Opening the other file takes less than half of them. */
const LEFT = 2 * LEAST;
/** Bytes below which the disk may soon be full. */
const LITTLE = 64 * 1024 * 1024;
/** Bytes written at once. To fill a buffer for the whole file would take a tenth of a start. */
const BLOCK = Buffer.alloc(64 * 1024, 1);
/** Milliseconds between two checks of the reserve. */
const PAUSE = 1_000;
/**
 * Attempts of a write on a full disk: while a reader keeps the WAL from the file; while one may keep the WAL from
 * restarting; and while the file has fewer free pages than `FEW_PAGES`, so that they are used up.
 */
const TRIES = { most: 200, some: 40, few: 3 };
const FEW_PAGES = 8;
/** Milliseconds between two attempts. */
const BETWEEN = 5;

/**
 * The last room of a file for a full disk. It is where no other program can take it: in a table of the file, and in a
 * WAL that is longer than its content. The third part is the file `*.reserve`: it is removed on a full disk, so that
 * the file can take the WAL. All processes of the store share the room.
 */
export class Room {
  readonly #path: string;
  readonly #reserve: string;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #isFull = false;
  #isLittle = false;
  #looked = -Infinity;
  #kept = -Infinity;
  #wasThere = false;

  constructor(path: string, clock: Pick<Clock, 'monotonic'>) {
    this.#path = path;
    this.#reserve = `${path}.reserve`;
    this.#clock = clock;
  }

  /** Whether the disk is full, from the first sign until the reserve exists again. Makes a missing reserve. */
  look(): boolean {
    const free = freeRoom(dirname(this.#path));
    this.#isLittle = free < LITTLE;
    if (free < LEAST) this.#isFull = true;
    else if (this.#keep(free)) this.#isFull = false;
    return this.#isFull;
  }

  /** Runs `open`, and again with the room of the reserve if the disk got full while the file was closed. */
  toOpen<T>(open: () => T): T {
    try {
      return open();
    } catch (error) {
      if (writeFault(this.#path, error) !== 'full' || !this.#spend()) throw error;
      return open();
    }
  }

  /** A write failed for lack of room, perhaps because of a quota. */
  failed(): void {
    this.#isFull = true;
    this.#looked = this.#clock.monotonic();
  }

  /** The WAL was cut. Makes its part again before another program takes the room. */
  missing(): void {
    this.#kept = -Infinity;
  }

  /** Makes the missing parts in the file and the WAL, if the disk has enough room. Throws what SQLite throws. */
  keepWithin(connection: Connection, checkpoint: () => void): void {
    const now = this.#clock.monotonic();
    if (now - this.#kept < PAUSE) return;
    this.#kept = now;
    const folder = dirname(this.#path);
    // The pages of the table are first in the WAL, then in the file.
    if (!hasTable(connection) && freeRoom(folder) >= 2 * IN_FILE + LEFT) {
      const sql = `CREATE TABLE IF NOT EXISTS room AS SELECT zeroblob(${IN_FILE}) AS bytes`;
      connection.write((held) => void held.run(sql), BUSY_TIMEOUT);
      checkpoint();
    }
    const wal = `${this.#path}-wal`;
    lengthen(wal, Math.min(IN_WAL, statSync(wal).size + freeRoom(folder) - LEFT));
  }

  /** After a commit on a nearly full disk: copies new pages into the file, so that the WAL can restart. */
  bringIn(connection: Connection, checkpoint: () => void): void {
    if (!this.#isLittle) return;
    const { count, size } = connection.pages;
    if (statSync(this.#path).size < count * size) checkpoint();
  }

  /** Runs `commit` in the last room of a full disk, again while the WAL has used up the room. */
  async use<T>(
    connection: Connection,
    checkpoint: () => void,
    commit: () => Promise<T>,
  ): Promise<T> {
    for (let tries = TRIES.most; ;) {
      try {
        while (connection.open) await connection.open;
        // The WAL restarts when the file has all its pages and no process reads it.
        if (tries < TRIES.most) checkpoint();
        this.#open(connection, checkpoint);
        connection.mayGrow(false);
        return await commit();
      } catch (error) {
        if (writeFault(this.#path, error) !== 'full' || tries === 0) throw error;
      }
      const most = connection.pages.free < FEW_PAGES ? TRIES.few : TRIES.some;
      tries = Math.min(tries - 1, connection.isInFile ? most : TRIES.most);
      await setTimeout(BETWEEN);
    }
  }

  /** Copies the WAL into the file with the room of the reserve, and frees the pages of the table. */
  #open(connection: Connection, checkpoint: () => void): void {
    if (this.#spend()) checkpoint();
    if (!hasTable(connection)) return;
    connection.write((held) => void held.run('DROP TABLE IF EXISTS room'), BUSY_TIMEOUT);
  }

  /** Makes a missing or short reserve if the disk has room. True: the reserve exists. */
  #keep(free: number): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#looked < PAUSE) return false;
    this.#looked = now;
    try {
      const size = statSync(this.#reserve, { throwIfNoEntry: false })?.size ?? 0;
      if (size < SIZE) {
        if (free + size < LEAST_ROOM + SIZE) {
          this.#isFull ||= this.#wasThere;
          return false;
        }
        lengthen(this.#reserve, SIZE, constants.O_CREAT);
      }
      return (this.#wasThere = true);
    } catch (error) {
      if (isOutOfRoom(error)) this.#spend();
      return false;
    }
  }

  /** Whether a reserve existed and was removed. */
  #spend(): boolean {
    try {
      rmSync(this.#reserve);
      return true;
    } catch {
      return false;
    }
  }
}

/** Runs work for a later full disk. A failure fails no write, unless it reports damage. */
export function ifPossible(work: () => void): void {
  try {
    work();
  } catch (cause) {
    if (cause instanceof StoreUnavailable || isDamage(cause)) throw cause;
  }
}

const hasTable = (connection: Connection) =>
  connection.all(`SELECT 1 FROM sqlite_schema WHERE name = 'room'`).length > 0;

/**
 * Appends to a file up to a size; to a WAL while this process has a connection, so that the WAL is not removed. SQLite
 * reads no frame after the last commit, writes each frame at its place, and keeps the length of a restarted WAL
 * (sqlite.org/fileformat2.html#the_write_ahead_log).
 */
function lengthen(path: string, to: number, flags = 0): void {
  // SQLite takes no locks on these files, so closing them releases none.
  const file = openSync(path, constants.O_WRONLY | constants.O_APPEND | flags, 0o600);
  try {
    for (let { size } = fstatSync(file); size < to;) {
      size += writeSync(file, BLOCK, 0, Math.min(BLOCK.length, to - size));
    }
  } finally {
    closeSync(file);
  }
}
