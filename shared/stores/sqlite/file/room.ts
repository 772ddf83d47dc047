import { closeSync, constants, fstatSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '#shared/base/clock.ts';
import { freeRoom, LEAST_ROOM } from '#shared/base/free-room.ts';
import { isOutOfRoom } from '#shared/base/out-of-room.ts';
import { BUSY_TIMEOUT, type Connection } from './connection.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { isDamage, writeFault } from './write-fault.ts';

/** Bytes of the table `room`, whose pages the file has for rows that must still be added. */
const IN_FILE = 1024 * 1024;
/** Bytes that the WAL has on the disk at least: pages that change when some thousand rows do. */
const IN_WAL = 4 * 1024 * 1024;
/** Bytes of the reserve: what a WAL may hold of pages that lie behind the end of the file. */
const SIZE = 5 * 1024 * 1024;
/** Bytes. With less the disk is full for what adds to the store. Until then servers can start, and people sign in. */
const LEAST = 1024 * 1024;
/** Bytes that the room in a file and its WAL leaves: to open the other file takes less than the half of it. */
const LEFT = 2 * LEAST;
/** Bytes. With less the disk may soon be full. */
const LITTLE = 64 * 1024 * 1024;
/** Bytes written at once: to fill as much memory as the file has takes a tenth of a start. */
const BLOCK = Buffer.alloc(64 * 1024, 1);
/** Milliseconds between two looks whether all is there. */
const PAUSE = 1_000;
/**
 * Tries of a write on a full disk: while a reader keeps the WAL from the file; while one may keep it from beginning anew; and
 * where the file has fewer free pages than `FEW_PAGES`, so that these are used up.
 */
const TRIES = { most: 200, some: 40, few: 3 };
const FEW_PAGES = 8;
/** Milliseconds between two of them. */
const BETWEEN = 5;

/**
 * The last room of a file of the store, for when the disk is full. It lies where nobody else on the disk gets it: in a table
 * of the file, and in a WAL that is longer than what it holds. A third part is a file beside it, `*.reserve`: it is removed
 * when the disk gets full, and the file then takes what the WAL holds of it. Processes that share the store share the room.
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

  /**
   * Whether the disk is full: from when it has less than `LEAST`, a write has failed, or another process has removed the
   * reserve, until there is one again. Makes that where it is missing.
   */
  look(): boolean {
    const free = freeRoom(dirname(this.#path));
    this.#isLittle = free < LITTLE;
    if (free < LEAST) this.#isFull = true;
    else if (this.#keep(free)) this.#isFull = false;
    return this.#isFull;
  }

  /** Carries out `open`: again where the disk got full while nobody had the file open, in the room of the reserve. */
  toOpen<T>(open: () => T): T {
    try {
      return open();
    } catch (error) {
      if (writeFault(this.#path, error) !== 'full' || !this.#spend()) throw error;
      return open();
    }
  }

  /** A write has failed for want of room, whatever the disk says of itself: a quota is used up. */
  failed(): void {
    this.#isFull = true;
    this.#looked = this.#clock.monotonic();
  }

  /** The WAL was cut: its part is made before anything else on the disk takes that room. */
  missing(): void {
    this.#kept = -Infinity;
  }

  /**
   * While the disk has room: makes the parts that are missing in the file and its WAL. They leave what others need to start,
   * so that the disk is not full by them. Throws what node:sqlite and node:fs throw.
   */
  keepWithin(connection: Connection, checkpoint: () => void): void {
    const now = this.#clock.monotonic();
    if (now - this.#kept < PAUSE) return;
    this.#kept = now;
    const folder = dirname(this.#path);
    // The pages of the table are in the WAL before they are in the file.
    if (!hasTable(connection) && freeRoom(folder) >= 2 * IN_FILE + LEFT) {
      const sql = `CREATE TABLE IF NOT EXISTS room AS SELECT zeroblob(${IN_FILE}) AS bytes`;
      connection.write((held) => void held.run(sql), BUSY_TIMEOUT);
      checkpoint();
    }
    const wal = `${this.#path}-wal`;
    lengthen(wal, Math.min(IN_WAL, statSync(wal).size + freeRoom(folder) - LEFT));
  }

  /**
   * After a commit, on a disk that may soon be full: brings pages behind the end of the file into it. They would stay in the
   * WAL, which could not begin anew. Throws the same.
   */
  bringIn(connection: Connection, checkpoint: () => void): void {
    if (!this.#isLittle) return;
    const { count, size } = connection.pages;
    if (statSync(this.#path).size < count * size) checkpoint();
  }

  /** On a full disk: carries out `commit` in the last room, again and again while the WAL has used that up. */
  async use<T>(
    connection: Connection,
    checkpoint: () => void,
    commit: () => Promise<T>,
  ): Promise<T> {
    for (let tries = TRIES.most; ;) {
      try {
        while (connection.open) await connection.open;
        // The WAL begins anew once all is in the file, and nobody reads what it holds.
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

  /** Brings the WAL into the file by the room of the reserve, and frees the pages of the table. */
  #open(connection: Connection, checkpoint: () => void): void {
    if (this.#spend()) checkpoint();
    if (!hasTable(connection)) return;
    connection.write((held) => void held.run('DROP TABLE IF EXISTS room'), BUSY_TIMEOUT);
  }

  /** Makes the reserve where it is missing, or shorter since a process was killed, and the disk has room. True: it is there. */
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

  /** Whether there was one, and it could be removed. */
  #spend(): boolean {
    try {
      rmSync(this.#reserve);
      return true;
    } catch {
      return false;
    }
  }
}

/** Carries out work for a disk that gets full. If it fails now it may be done later: a failure fails no write, unless it tells of damage. */
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
 * Appends to a file until it has that size; to a WAL while a connection of this process keeps others from removing it. SQLite
 * reads no frame behind the last commit, writes each at its place, and leaves a WAL as long as it is when it begins anew
 * (sqlite.org/fileformat2.html#the_write_ahead_log).
 */
function lengthen(path: string, to: number, flags = 0): void {
  // SQLite takes no locks on these files, so that closing them ends none.
  const file = openSync(path, constants.O_WRONLY | constants.O_APPEND | flags, 0o600);
  try {
    for (let { size } = fstatSync(file); size < to;) {
      size += writeSync(file, BLOCK, 0, Math.min(BLOCK.length, to - size));
    }
  } finally {
    closeSync(file);
  }
}
