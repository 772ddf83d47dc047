import { type FileHandle, open } from 'node:fs/promises';
import { type Linked, Recency } from './recency.ts';
import { InUse } from './in-use.ts';

/** A file that is open for as long as it is in use. */
interface OpenFile extends Linked<OpenFile> {
  readonly path: string;
  readonly handle: Promise<FileHandle>;
  readonly use: InUse;
}

/** A file that is read. */
export interface FileReading {
  readonly file: FileHandle;
  /** To be called once. */
  readonly end: () => void;
}

/** Files that were read last stay open: to open one costs more than to read it. */
export class OpenFiles {
  readonly #most: number;
  readonly #files = new Map<string, OpenFile>();
  readonly #recency = new Recency<OpenFile>();

  /** So many, beside those that are being read. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Rejects where there is none. */
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

  /** It is closed as soon as nobody reads it any more, and is not given to others. */
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
