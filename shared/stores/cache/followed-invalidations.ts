import { type FeedPosition, readPosition, writePosition } from '../revocation/feed-position.ts';
import type { Extent, Followed } from '../revocation/followed.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Invalidation, InvalidationFeed, InvalidationListener } from './invalidations.ts';

export type InvalidationRow = readonly [
  space: string,
  kind: Invalidation['kind'],
  value: string,
  soft: number,
  at: number,
];

/** Gives a listener the rows of the table of invalidations after a position. */
export class FollowedInvalidations implements Followed<InvalidationRow> {
  readonly table = 'invalidation';
  readonly #listener: InvalidationListener;
  #epoch = '';
  /** The position at the start; undefined: unknown. */
  #start: FeedPosition | 'at the end' | undefined;

  /** `from`: the position to begin after; undefined: the end of the table. */
  constructor(listener: InvalidationListener, from: string | undefined) {
    this.#listener = listener;
    this.#start = from === undefined ? 'at the end' : readPosition(from);
  }

  /** The position up to which the listener has all rows; empty if unknown. `cursor`: the last row read. */
  position(cursor: number | undefined): string {
    if (cursor !== undefined) return writePosition({ epoch: this.#epoch, entry: cursor });
    return typeof this.#start === 'object' ? writePosition(this.#start) : '';
  }

  /** Begins at the end if the epoch is another, the table ends before the cursor, or rows after the cursor are gone. */
  goOn({ epoch, first, last }: Extent, cursor: number | undefined): number {
    const known = cursor === undefined ? this.#start : { epoch: this.#epoch, entry: cursor };
    this.#start = undefined;
    this.#epoch = epoch;
    if (known === 'at the end') return last;
    const entry = known?.epoch === epoch ? known.entry : -1;
    if (first - 1 <= entry && entry <= last) return entry;
    this.#listener.lost();
    return last;
  }

  apply(seq: number, [space, kind, value, soft, at]: InvalidationRow): void {
    this.#listener.apply({
      space,
      kind,
      value,
      soft: soft !== 0,
      at,
      position: this.position(seq),
    });
  }
}

/** The way in which an engine follows the table. */
interface Following {
  /** The last row that was read. */
  readonly cursor: number | undefined;
  /** The time of `monotonic()` at which no row was after the cursor. */
  readonly confirmed: number;
  look(): Awaitable<void>;
  close(): void;
}

export const feedOver = (followed: FollowedInvalidations, table: Following): InvalidationFeed => ({
  get position() {
    return followed.position(table.cursor);
  },
  latest: (since) => (since >= table.confirmed ? table.look() : undefined),
  async [Symbol.asyncDispose]() {
    table.close();
  },
});
