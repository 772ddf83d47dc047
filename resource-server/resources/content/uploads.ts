import { tooMuchAtOnce } from '#shared/server/spool.ts';

/** Bytes that may be on their way from one principal, and from all to a process. */
const ONE_PRINCIPAL = 256 * 1024 * 1024;
const ALL = 4 * ONE_PRINCIPAL;
/** At least as much as so many of the longest documents. */
const DOCUMENTS = 4;

/** A file that is being written. */
export interface Upload {
  /** Throws `HttpError` 503, and gives back all of it, when so many more bytes are too much at a time. */
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
  /** Bytes, by the principal that sends them, to whatever trees. */
  readonly #principals = new Map<string, number>();
  #all = 0;
  readonly #least: number;

  /** `longest`: bytes of the longest document. */
  constructor(longest: number) {
    this.#least = DOCUMENTS * longest;
  }

  get files(): ReadonlySet<string> {
    return this.#files;
  }

  /**
   * `announced`: bytes that are known to come. They are counted at once, so that of many uploads those that
   * have begun come to their end. Throws `HttpError` 503 when they are too much at a time.
   */
  begin(principal: string, file: string, announced = 0): Upload {
    let [counted, received] = [0, 0];
    const count = (bytes: number) => {
      this.#count(principal, bytes);
      counted += bytes;
    };
    count(announced);
    this.#files.add(file);
    return {
      grow: (bytes) => {
        received += bytes;
        try {
          count(Math.max(received - counted, 0));
        } catch (error) {
          count(-counted);
          throw error;
        }
      },
      end: () => {
        count(-counted);
        this.#files.delete(file);
      },
    };
  }

  #count(principal: string, more: number): void {
    const own = (this.#principals.get(principal) ?? 0) + more;
    if (more > 0 && own > Math.max(ONE_PRINCIPAL, this.#least)) throw tooMuchAtOnce();
    if (more > 0 && this.#all + more > Math.max(ALL, this.#least)) throw tooMuchAtOnce();
    this.#all += more;
    if (own > 0) this.#principals.set(principal, own);
    else this.#principals.delete(principal);
  }
}
