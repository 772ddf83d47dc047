import { andThen, type Awaitable, recover } from '#shared/base/awaitable.ts';
import { tooMuchAtOnce } from '#shared/server/content/spool.ts';
import { createTally } from '#shared/server/limits/tally.ts';

/** Bytes that may be on their way from one principal, and from all, to all workers of a server. */
const ONE_PRINCIPAL = 256 * 1024 * 1024;
const ALL = 4 * ONE_PRINCIPAL;
/** At least as much as so many of the longest documents. */
const DOCUMENTS = 4;
/** Bytes that a worker takes at a time for what is shorter. */
const BLOCK = 1024 * 1024;

/** A file that is being written. */
export interface Upload {
  /** Comes to `HttpError` 503, and gives back all of it, when so many more bytes are too much at a time. */
  grow(bytes: number): Awaitable<void>;
  /** It is a document now, or removed. */
  end(): void;
}

/**
 * What a server is receiving. No resource names it yet, so that no quota counts it: whoever sends content
 * and never ends it could fill the disk.
 */
export class Uploads {
  readonly #files = new Set<string>();
  readonly #tally = createTally('uploads', BLOCK);
  readonly #least: number;

  /** `longest`: bytes of the longest document. */
  constructor(longest: number) {
    this.#least = DOCUMENTS * longest;
  }

  /** Those of this process. */
  get files(): ReadonlySet<string> {
    return this.#files;
  }

  /**
   * `announced`: bytes that are known to come. They are counted at once, so that of many uploads those that
   * have begun come to their end. Comes to `HttpError` 503 when they are too much at a time.
   */
  begin(principal: string, file: string, announced = 0): Awaitable<Upload> {
    let [counted, received] = [0, 0];
    const count = (bytes: number): Awaitable<void> => {
      if (bytes === 0) return undefined;
      return andThen(this.#tally.take(this.#shares(principal, bytes)), (taken) => {
        if (!taken) throw tooMuchAtOnce();
        counted += bytes;
      });
    };
    const giveBack = () => {
      if (counted > 0) this.#tally.give(this.#shares(principal, counted));
      counted = 0;
    };
    return andThen(count(announced), () => {
      this.#files.add(file);
      return {
        grow: (bytes) => {
          received += bytes;
          return recover(
            () => count(Math.max(received - counted, 0)),
            (error) => {
              giveBack();
              throw error;
            },
          );
        },
        end: () => {
          giveBack();
          this.#files.delete(file);
        },
      };
    });
  }

  #shares(principal: string, amount: number) {
    const all = { of: 'all', most: Math.max(ALL, this.#least) };
    const most = Math.max(ONE_PRINCIPAL, this.#least);
    return [
      { of: `of ${principal}`, amount, most, within: all },
      { ...all, amount },
    ];
  }
}
