import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { syncPath } from './sync-path.ts';

/** Bytes of a record, a fraction of the 512 that a disk writes at once. */
const LENGTH = 64;
/** Each commit has its own record, so that processes do not overwrite a record that was just written. */
const RECORDS = 64;
/** A higher number of commits is damage. */
const MOST = 2 ** 52;

/** The number of commits of a SQLite file, written beside it after each commit. If SQLite has fewer, some were lost. */
export class Mark implements Disposable {
  readonly #path: string;
  readonly #record = Buffer.alloc(LENGTH, ' ');
  #file: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the highest number; 0 without a file. Throws `StoreUnavailable` if no server can have written the file. */
  read(): number {
    let text: string;
    try {
      text = readFileSync(this.#path, 'latin1');
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return 0;
      throw ['EISDIR', 'ELOOP'].includes(code) ? this.#damaged(message) : error;
    }
    let most = 0;
    for (let at = 0; at < text.length; at += LENGTH) {
      const record = text.slice(at, at + LENGTH);
      const commits = Number(record.slice(0, 16));
      if (recordOf(commits) === record.trimEnd()) most = Math.max(most, commits);
    }
    if (most > MOST) throw this.#damaged(`it tells of ${most} transactions`);
    return most;
  }

  #damaged(reason: string): StoreUnavailable {
    return new StoreUnavailable(`${this.#path} is damaged: remove it, and start again (${reason})`);
  }

  /** `flush`: waits for the disk. */
  write(commits: number, flush: boolean): void {
    try {
      const file = (this.#file ??= this.#open());
      this.#record.write(recordOf(commits));
      writeSync(file, this.#record, 0, LENGTH, (commits % RECORDS) * LENGTH);
      if (flush) fdatasyncSync(file);
    } catch (cause) {
      // A retry must not follow, as after some errors of SQLite.
      throw new Error(`${this.#path} cannot be written`, { cause });
    }
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  #open(): number {
    const file = openSync(this.#path, constants.O_CREAT | constants.O_WRONLY, 0o600);
    if (fstatSync(file).size === 0) syncPath(dirname(this.#path));
    return file;
  }
}

export function recordOf(commits: number): string {
  const number = String(commits).padStart(16, '0');
  return `${number} ${crc32(number).toString(16).padStart(8, '0')}`;
}
