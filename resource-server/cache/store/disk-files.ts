import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileReading, OpenFiles } from './open-files.ts';

const { O_CREAT, O_EXCL, O_RDWR } = constants;

/** The most files that stay open. */
const MOST_OPEN = 128;

/** The content files of one process, by number. */
export class DiskFiles implements AsyncDisposable {
  readonly #folder: string;
  readonly #open = new OpenFiles(MOST_OPEN);
  readonly #making = new Set<Promise<unknown>>();
  /** Files are removed one after another, so that reads are not delayed. */
  #removed: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Creates a file. Rejects if the file exists. */
  async create(seq: number): Promise<FileHandle> {
    // After `close` another process may use the folder.
    if (this.#closed) throw new Error('closed');
    const made = open(this.#path(seq), O_CREAT | O_EXCL | O_RDWR, 0o600);
    this.#making.add(made);
    try {
      return await made;
    } finally {
      this.#making.delete(made);
    }
  }

  /** Opens a file. Rejects if there is no such file. */
  read(seq: number): Promise<FileReading> {
    return this.#open.read(this.#path(seq));
  }

  /** Removes a file. If that fails, the next start removes it. */
  remove(seq: number): void {
    if (this.#closed) return;
    const path = this.#path(seq);
    this.#open.forget(path);
    this.#removed = this.#removed.then(() => unlink(path)).catch(() => {});
  }

  /** Removes all files except those with these numbers. */
  async retain(named: ReadonlySet<number>): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      if (!named.has(Number(name))) await rm(join(this.#folder, name), { recursive: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#open.clear();
    await Promise.allSettled(this.#making);
    await this.#removed;
  }

  #path(seq: number): string {
    return join(this.#folder, `${seq}`);
  }
}
