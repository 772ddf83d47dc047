import { closeSync, existsSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Bytes: the pages that change when a tree of some thousand entries goes. */
const SIZE = 4 * 1024 * 1024;
/** Bytes written at once: to fill as much memory as the file has takes a tenth of a start. */
const BLOCK = 64 * 1024;

/**
 * A file that says nothing and takes up room beside a file of the store: when the disk is full it goes, so
 * that what makes room can still be written. Processes that share the store share it.
 */
export class Reserve {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Makes it where it is missing and the disk has room for much more; else a later time will do. */
  keep(): void {
    if (existsSync(this.#path)) return;
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      if (bavail * bsize < 4 * SIZE) return;
      write(this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') this.spend();
    }
  }

  /** Whether there was one, and it could be removed. */
  spend(): boolean {
    try {
      rmSync(this.#path);
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
  } finally {
    closeSync(file);
  }
}
