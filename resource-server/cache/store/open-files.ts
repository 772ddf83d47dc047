import { type FileHandle, open } from 'node:fs/promises';
import { type Linked, Recency } from './recency.ts';
import { InUse } from './in-use.ts';

/** A file that stays open while it is in use. */
interface OpenFile extends Linked<OpenFile> {
  readonly path: string;
  readonly handle: Promise<FileHandle>;
  readonly use: InUse;
}

/** A file that is being read. */
export interface FileReading {
  readonly file: FileHandle;
  /** Ends the reading. The caller calls it once. */
  readonly end: () => void;
}

/** Keeps the most recently read files open, since opening a file costs more than reading it. */
export class OpenFiles {
  readonly #most: number;
  readonly #files = new Map<string, OpenFile>();
  readonly #recency = new Recency<OpenFile>();

  /** `most`: the number of files that stay open beside those being read. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Opens a file. Rejects if there is no such file. */
  async read(path: string): Promise<FileReading> {
    const opened = this.#files.get(path) ?? this.#open(path);
    opened.use.begin();
    this.#recency.touch(opened);
    const [oldest] = this.#files.size > this.#most ? this.#recency : [];
    if (oldest !== undefined) this.#close(oldest);
    try {
      return { file: await opened.handle, end: () => opened.use.end() };
    } catch (error) {
      this.#close(opened);
      throw error;
    }
  }

  /** Closes a file after its last reader, and gives it to no new reader. */
  forget(path: string): void {
    const opened = this.#files.get(path);
    if (opened !== undefined) this.#close(opened);
  }

  clear(): void {
    for (const opened of this.#recency) this.#close(opened);
  }

  #open(path: string): OpenFile {
    const handle = open(path);
    const close = () => {
      handle.then((file) => file.close()).catch(() => {});
    };
    const opened = { path, handle, use: new InUse(close) };
    this.#files.set(path, opened);
    return opened;
  }

  #close(opened: OpenFile): void {
    if (this.#files.get(opened.path) !== opened) return;
    this.#files.delete(opened.path);
    this.#recency.remove(opened);
    opened.use.end();
  }
}
