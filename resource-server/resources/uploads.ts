import { tooMuchAtOnce } from '#shared/server/spool.ts';

/** Bytes that may be on their way into one tree, and into all trees of a process. */
const ONE_TREE = 256 * 1024 * 1024;
const ALL_TREES = 4 * ONE_TREE;
/** At least as much as so many of the longest documents. */
const DOCUMENTS = 4;

/** A file that is being written. */
export interface Upload {
  /** Throws `HttpError` 503 when so many more bytes are too much at a time. */
  grow(bytes: number): void;
  /** It is a document now, or removed. */
  end(): void;
}

/**
 * What a process is receiving. No resource names it yet, so that no quota counts it: whoever sends content
 * and never ends it could fill the disk.
 */
export class Uploads {
  readonly #files = new Set<string>();
  /** Bytes, by the folder of each tree that is being written to. */
  readonly #trees = new Map<string, number>();
  #all = 0;
  readonly #least: number;

  /** `longest`: bytes of the longest document. */
  constructor(longest: number) {
    this.#least = DOCUMENTS * longest;
  }

  get files(): ReadonlySet<string> {
    return this.#files;
  }

  begin(folder: string, file: string): Upload {
    this.#files.add(file);
    let length = 0;
    return {
      grow: (bytes) => {
        const own = (this.#trees.get(folder) ?? 0) + bytes;
        if (own > Math.max(ONE_TREE, this.#least)) throw tooMuchAtOnce();
        if (this.#all + bytes > Math.max(ALL_TREES, this.#least)) throw tooMuchAtOnce();
        this.#count(folder, bytes);
        length += bytes;
      },
      end: () => {
        this.#count(folder, -length);
        this.#files.delete(file);
      },
    };
  }

  #count(folder: string, more: number): void {
    this.#all += more;
    const own = (this.#trees.get(folder) ?? 0) + more;
    if (own > 0) this.#trees.set(folder, own);
    else this.#trees.delete(folder);
  }
}
