import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '#shared/base/clock.ts';
import { freeRoom, LEAST_ROOM } from '#shared/base/free-room.ts';
import { BUSY_TIMEOUT, type Connection } from './connection.ts';

/** Bytes that move into the WAL, and as many into the file, if there is room: pages that change when some thousand rows do. */
const PART = 3.5 * 1024 * 1024;
/** Bytes: both parts, and what SQLite writes besides. */
const SIZE = 8 * 1024 * 1024;
/** Bytes. With less the disk is full for what adds to the store. Until then servers can start, and people sign in. */
const LEAST = 1024 * 1024;
/** Bytes written at once: to fill as much memory as the file has takes a tenth of a start. */
const BLOCK = 64 * 1024;
/** Milliseconds between two looks whether the reserve is there. */
const PAUSE = 1_000;

/**
 * The last room of a file of the store. While the disk has room it is a file beside it that says nothing, `*.reserve`. When
 * the disk is full, its room moves into the file and its WAL, where nobody else on the disk gets it. Processes that
 * share the store share it.
 */
export class Room {
  readonly #path: string;
  readonly #reserve: string;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #isFull = false;
  #looked = -Infinity;
  #wasThere = false;

  constructor(path: string, clock: Pick<Clock, 'monotonic'>) {
    this.#path = path;
    this.#reserve = `${path}.reserve`;
    this.#clock = clock;
  }

  /**
   * Whether the disk is full: from when it has less than `LEAST`, a write has failed, or another process has moved the
   * reserve, until there is one again. Makes that where it is missing.
   */
  look(): boolean {
    const free = freeRoom(dirname(this.#path));
    if (free < LEAST) this.#isFull = true;
    else if (this.#keep(free)) this.#isFull = false;
    return this.#isFull;
  }

  /** A write has failed for want of room, whatever the disk says of itself: a quota is used up. */
  failed(): void {
    this.#isFull = true;
    this.#looked = this.#clock.monotonic();
  }

  /**
   * Moves the room of the reserve, if there is one, to where only the store can use it: a WAL that begins anew after each
   * checkpoint, and pages of the file that are free.
   */
  moveInto(connection: Connection, checkpoint: () => void): void {
    if (!this.#spend()) return;
    checkpoint();
    const part = Math.min(PART, Math.floor(freeRoom(dirname(this.#path)) / 2.25));
    if (part < BLOCK) return;
    // Pages that are only freed in the transaction that adds them would take no room on the disk.
    const isDone = connection.write((held) => {
      held.run('DROP TABLE IF EXISTS room');
      held.run(`CREATE TABLE room AS SELECT randomblob(${part}) AS bytes`);
    }, BUSY_TIMEOUT);
    if (!isDone) return;
    checkpoint();
    connection.write((held) => void held.run('DROP TABLE room'), BUSY_TIMEOUT);
  }

  /** Makes the reserve where it is missing and the disk has room for it. True: it is there. */
  #keep(free: number): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#looked < PAUSE) return false;
    this.#looked = now;
    try {
      const found = statSync(this.#reserve, { throwIfNoEntry: false });
      if (found) return (this.#wasThere = true);
    } catch {
      return false;
    }
    if (free < LEAST_ROOM + SIZE) {
      this.#isFull ||= this.#wasThere;
      return false;
    }
    try {
      write(this.#reserve);
      return (this.#wasThere = true);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EEXIST';
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

/** Makes a file of that size. Throws the errors of node:fs, `EEXIST` when there is one. */
function write(path: string): void {
  const block = Buffer.alloc(BLOCK, 1);
  const file = openSync(path, 'wx', 0o600);
  try {
    for (let written = 0; written < SIZE;) {
      written += writeSync(file, block, 0, Math.min(BLOCK, SIZE - written));
    }
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}
