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

/** Tells a listener of the rows of the table of invalidations, from a position on. */
export class FollowedInvalidations implements Followed<InvalidationRow> {
  readonly table = 'invalidation';
  readonly #listener: InvalidationListener;
  #epoch = '';
  /** Where to begin; undefined: nobody knows. */
  #start: FeedPosition | 'at the end' | undefined;

  /** `from`: the position to begin behind; undefined: the end. */
  constructor(listener: InvalidationListener, from: string | undefined) {
    this.#listener = listener;
    this.#start = from === undefined ? 'at the end' : readPosition(from);
  }

  /** The position up to which the listener has everything; empty if no position is known. `cursor`: the last row read. */
  position(cursor: number | undefined): string {
    if (cursor !== undefined) return writePosition({ epoch: this.#epoch, entry: cursor });
    return typeof this.#start === 'object' ? writePosition(this.#start) : '';
  }

  /** Begins at the end in another memory, and where the table ends before the cursor or has forgotten what came after it. */
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

/** An engine's way to follow the table. */
interface Following {
  /** The last row that was read. */
  readonly cursor: number | undefined;
  /** Since when nothing was behind it, of `monotonic()`. */
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
