import type { Clock } from '#shared/base/clock.ts';
import { oncePerTurn } from '#shared/base/turn.ts';
import { RevocationSet } from '../../revocation/revocation-set.ts';
import type {
  RevocationFeed,
  RevocationStatus,
  RevocationView,
} from '../../revocation/revocations.ts';
import { type Extent, FollowedTable } from './followed-table.ts';

type Row = readonly [
  until: number,
  ...(
    | [kind: 'token' | 'grant' | 'key', id: string, generation: null]
    | [kind: 'person' | 'client', id: string, generation: number]
  ),
];

/**
 * Follows the revocation table. A look for new rows (about 2 us) is one for all requests that are handled together,
 * so a revocation that was acknowledged before a request came is in that request's view.
 */
export class SqliteFeed implements RevocationFeed {
  readonly latest = oncePerTurn((): RevocationView => {
    this.#table.look();
    return this.#set;
  });
  readonly current = this.latest;
  readonly #table: FollowedTable<Row>;
  readonly #clock: Clock;
  readonly #set = new RevocationSet();
  readonly #listeners: ((kid: string) => void)[] = [];

  private constructor(path: string, clock: Clock) {
    this.#clock = clock;
    this.#table = new FollowedTable<Row>(path, clock, {
      table: 'revocation',
      columns: 'until, kind, id, generation',
      goOn: (extent, cursor) => this.#goOn(extent, cursor),
      apply: (_, row) => this.#apply(row),
    });
  }

  /** Resolves when all is read, or cannot be read now. */
  static async open(path: string, clock: Clock): Promise<SqliteFeed> {
    const feed = new SqliteFeed(path, clock);
    await feed.#table.begin();
    return feed;
  }

  onKeyRevoked(listener: (kid: string) => void): void {
    this.#listeners.push(listener);
  }

  status(): RevocationStatus {
    this.#table.tryToLook();
    return {
      entries: this.#set.size,
      epoch: this.#set.epoch,
      cursor: String(this.#table.cursor ?? 0),
      silence: this.#clock.now() - this.#table.heard,
      trusted: this.#table.trusted,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#table.close();
  }

  /**
   * Reads all again when the file is another one, has another epoch or is behind the cursor (both:
   * restored in place). Known revocations stay: memory is merged, never replaced.
   */
  #goOn({ epoch, last }: Extent, cursor = 0): number {
    const same = epoch === this.#set.epoch && cursor <= last;
    this.#set.epoch = epoch;
    this.#set.sweep(this.#clock.now());
    return same ? cursor : 0;
  }

  #apply([until, kind, id, generation]: Row): void {
    const raised = kind === 'person' || kind === 'client';
    this.#set.apply(raised ? { kind, id, generation } : { kind, id }, until);
    if (kind === 'key') for (const listener of this.#listeners) listener(id);
  }
}
