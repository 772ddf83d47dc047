import type { Clock } from '#shared/base/clock.ts';
import { oncePerTurn } from '#shared/base/turn.ts';
import { type FeedPosition, readPosition, writePosition } from '../../revocation/feed-position.ts';
import type {
  Invalidation,
  InvalidationFeed,
  InvalidationListener,
} from '../../cache/invalidations.ts';
import { type Extent, FollowedTable } from '../revocation/followed-table.ts';

type Row = readonly [
  space: string,
  kind: Invalidation['kind'],
  value: string,
  soft: number,
  at: number,
];

/** Follows the invalidation table from where it is told to. */
export class SqliteInvalidationFeed implements InvalidationFeed {
  readonly #table: FollowedTable<Row>;
  readonly #clock: Clock;
  readonly #listener: InvalidationListener;
  #epoch = '';
  /** Where to begin in the file; undefined: nobody knows. */
  #start: FeedPosition | 'at the end' | undefined;
  /** When the last look began, of `monotonic()`. */
  #looked = -Infinity;

  /** Once for all requests that are handled together. */
  readonly #look = oncePerTurn(() => {
    const began = this.#clock.monotonic();
    this.#table.look();
    this.#looked = began;
  });

  private constructor(path: string, clock: Clock, listener: InvalidationListener, from?: string) {
    this.#clock = clock;
    this.#listener = listener;
    this.#start = from === undefined ? 'at the end' : readPosition(from);
    this.#table = new FollowedTable<Row>(path, clock, {
      table: 'invalidation',
      columns: 'space, kind, value, soft, at',
      goOn: (extent, cursor) => this.#goOn(extent, cursor),
      apply: (seq, row) => this.#apply(seq, row),
    });
  }

  static async open(
    path: string,
    clock: Clock,
    listener: InvalidationListener,
    from: string | undefined,
  ): Promise<SqliteInvalidationFeed> {
    const feed = new SqliteInvalidationFeed(path, clock, listener, from);
    await feed.#table.begin();
    return feed;
  }

  get position(): string {
    const { cursor } = this.#table;
    if (cursor !== undefined) return this.#positionOf(cursor);
    return typeof this.#start === 'object' ? writePosition(this.#start) : '';
  }

  latest(since: number): void {
    if (since >= this.#looked) this.#look();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#looked = -Infinity;
    this.#table.close();
  }

  /**
   * Begins at the end when the file is another one, has another epoch, is behind the cursor (both: restored in
   * place) or has forgotten what came after it.
   */
  #goOn({ epoch, first, last }: Extent, cursor: number | undefined): number {
    const known =
      cursor === undefined ? this.#start : { epoch: this.#epoch, entry: String(cursor) };
    this.#start = undefined;
    this.#epoch = epoch;
    if (known === 'at the end') return last;
    const entry = known?.epoch === epoch ? Number(known.entry) : -1;
    if (first - 1 <= entry && entry <= last) return entry;
    this.#listener.lost();
    return last;
  }

  #apply(seq: number, [space, kind, value, soft, at]: Row): void {
    const position = this.#positionOf(seq);
    this.#listener.apply({ space, kind, value, soft: soft !== 0, at, position });
  }

  #positionOf(seq: number): string {
    return writePosition({ epoch: this.#epoch, entry: String(seq) });
  }
}
