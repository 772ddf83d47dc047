import { andThen, type Awaitable, recover } from '#shared/base/awaitable.ts';
import { tooMuchAtOnce } from '#shared/server/content/spool.ts';
import { createTally } from '#shared/server/limits/tally.ts';

/** Bytes of running uploads at a time, of one principal and of all, in all workers of a server. */
const ONE_PRINCIPAL = 256 * 1024 * 1024;
const ALL = 4 * ONE_PRINCIPAL;
/** The limit for all principals is at least this many of the longest documents. */
const DOCUMENTS = 4;
/** Bytes that a worker reserves at a time for shorter uploads. */
const BLOCK = 1024 * 1024;

/** A file that is being written. */
export interface Upload {
  /**
   * Reserves more bytes. Throws or rejects with `HttpError` 503, and releases the whole upload, if too many bytes are
   * being uploaded.
   */
  grow(bytes: number): Awaitable<void>;
  /** Called when the upload has become a document or was removed. */
  end(): void;
}

/**
 * The uploads that a server is receiving.
 * No resource names them yet, so no quota counts them. Without this limit, a client that sends content and never
 * finishes could fill the disk.
 */
export class Uploads {
  readonly #files = new Set<string>();
  readonly #tally = createTally('uploads', BLOCK);
  readonly #least: number;

  /** `longest`: bytes of the longest document. */
  constructor(longest: number) {
    this.#least = DOCUMENTS * longest;
  }

  /** The files of this process. */
  get files(): ReadonlySet<string> {
    return this.#files;
  }

  /**
   * Begins an upload. `announced`: bytes that are known to come. They are reserved at once, so that a started upload
   * can finish. Throws or rejects with `HttpError` 503 if too many bytes are being uploaded.
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
