import type { Awaitable } from '#shared/base/awaitable.ts';
import { readPosition, writePosition } from '../../revocation/feed-position.ts';
import type { InvalidationFeed, InvalidationListener } from '../../cache/invalidations.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { type Beside, type BesideAnswer, COUNT } from '../revocation/feed-questions.ts';
import { INVALIDATIONS_START, readInvalidation } from './invalidation-stream.ts';
import type { RedisFeed } from '../revocation/revocation-feed.ts';
import { type EntryId, isEntryId, STREAM_START } from '../revocation/revocation-stream.ts';

/** The feeds of revocations, of which one asks. */
export interface Hosts {
  /** One that others have opened, and go on asking. */
  running(): RedisFeed | undefined;
  open(): RedisFeed;
}

/**
 * Follows the stream of invalidations by the questions of a feed of revocations. A caller that has asked that feed for
 * a verdict need not ask this one any more, and the answers here are as reliable as those there.
 */
export class RedisInvalidationFeed implements InvalidationFeed, Beside {
  readonly stream: string;
  readonly start = INVALIDATIONS_START;
  readonly #hosts: Hosts;
  readonly #listener: InvalidationListener;
  #host: RedisFeed;
  /** The host, if nobody else has it. */
  #own: RedisFeed | undefined;
  #epoch: string;
  #cursor: EntryId | '';
  /** Nobody has kept anything so far. */
  #isNew: boolean;
  /** When the last question began that told all, of `monotonic()`. */
  #looked = -Infinity;
  /** The last answer had room for all. */
  #complete = false;
  #closed = false;

  private constructor(stream: string, hosts: Hosts, listener: InvalidationListener, from?: string) {
    this.stream = stream;
    this.#hosts = hosts;
    this.#listener = listener;
    this.#isNew = from === undefined;
    const { epoch, entry } = readPosition(from ?? '') ?? { epoch: '', entry: '' };
    this.#epoch = epoch;
    this.#cursor = isEntryId(entry) && entry !== STREAM_START ? entry : '';
    this.#host = this.#join();
  }

  static async open(
    stream: string,
    hosts: Hosts,
    listener: InvalidationListener,
    from: string | undefined,
  ): Promise<RedisInvalidationFeed> {
    const feed = new RedisInvalidationFeed(stream, hosts, listener, from);
    await feed.#host.started;
    await feed.#ask().catch(() => {});
    return feed;
  }

  get cursor(): EntryId | '' {
    return this.#cursor;
  }

  get position(): string {
    if (this.#cursor === '') return '';
    return writePosition({ epoch: this.#epoch, entry: this.#cursor });
  }

  latest(since: number): Awaitable<void> {
    return since < this.#looked ? undefined : this.#ask();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#looked = -Infinity;
    this.#host.beside.delete(this);
    await this.#own?.[Symbol.asyncDispose]();
  }

  take({ epoch, end, entries, asked }: BesideAnswer): void {
    if (this.#closed) return;
    if (end !== null || epoch !== this.#epoch) this.#goOn(epoch, end ?? this.#cursor);
    for (const [id, fields] of entries) {
      const invalidation = readInvalidation(epoch, id, fields);
      // A newer version wrote it, or something else: it may concern any answer.
      if (invalidation === undefined) this.#listener.lost();
      else this.#listener.apply(invalidation);
      this.#cursor = id;
    }
    this.#complete = entries.length < COUNT;
    if (this.#complete) this.#looked = asked;
  }

  #join(): RedisFeed {
    const running = this.#hosts.running();
    const host = running ?? this.#hosts.open();
    this.#own = running === undefined ? host : undefined;
    host.beside.add(this);
    return host;
  }

  async #ask(): Promise<void> {
    do {
      if (this.#closed) throw new StoreUnavailable('the feed of invalidations is closed');
      if (this.#host.closed) {
        this.#host = this.#join();
        await this.#host.started;
      }
      await this.#host.latest();
    } while (!this.#complete);
  }

  /** Goes on from there, since the known position is of another memory or the entries after it are lost. */
  #goOn(epoch: string, cursor: EntryId | ''): void {
    if (!this.#isNew) this.#listener.lost();
    this.#isNew = false;
    this.#epoch = epoch;
    this.#cursor = cursor;
  }
}
