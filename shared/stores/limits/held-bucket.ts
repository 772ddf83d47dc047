import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import { type Buckets, intervalOf, spentOf, type Stretch, type Taken } from './buckets.ts';
import type { LimitNamespace, Rate, Spent } from './limits.ts';
import type { boundedWaiting } from '../outage/waiting.ts';

export type Bucket = readonly [namespace: LimitNamespace, key: string, rate: Rate];

/**
 * The share of the rest of a bucket that a process takes at once. A client may be refused earlier by that share, if
 * another process holds it. It is no fixed number, since a held block runs out with time: a few uses would be over
 * before the next request came.
 */
const SHARE = 1 / 16;

/** The stretch that was taken; the part from `from` on is not spent yet. */
interface Block extends Taken {
  from: number;
  /** A use that is given back does not go before this time. */
  readonly start: number;
  /** Both clocks of this process, before the store was asked. */
  readonly asked: Moment;
}

type Moment = Readonly<Record<'set' | 'monotonic', number>>;

/**
 * The part of one bucket that this process holds. It is lost with the process.
 *
 * However many processes hold a part, no more uses pass than the rate allows. Each use is an interval of the bucket's
 * time. No two uses are the same interval, since the store moves the end of the taken stretch. No interval is over
 * when it is spent, and none is further ahead than the burst. So any period has as many uses as fit into it and the
 * burst. Hence the held part runs out while the bucket fills. The store's clock is never taken to be earlier than it
 * is: time counts from before the store was asked, by whichever of our two clocks went further, since one may be set
 * back and the other stands still while a machine sleeps.
 */
export class HeldBucket {
  readonly #buckets: Buckets;
  readonly #clock: Clock;
  readonly #wait: ReturnType<typeof boundedWaiting>;
  /** Undefined while the store is asked. */
  #block: Block | undefined;
  readonly #waiting: PromiseWithResolvers<Spent>[] = [];
  #asking: Promise<void> | undefined;
  /** The bucket's time that was given back while the store is asked, in microseconds. */
  #returned = 0;
  /** The store did not answer the last question. It may do later what it was asked, and nobody has the block. */
  #failed = false;

  /** `wait`: that of all buckets of the process. */
  constructor(buckets: Buckets, clock: Clock, wait: ReturnType<typeof boundedWaiting>) {
    this.#buckets = buckets;
    this.#clock = clock;
    this.#wait = wait;
  }

  /** Answers at once if the process holds enough of the bucket. Only the store refuses. */
  spend(bucket: Bucket): Awaitable<Spent> {
    const spent = this.#spendHeld(bucket);
    if (spent !== undefined) return spent;
    return this.#wait(() => {
      const waiter = Promise.withResolvers<Spent>();
      this.#waiting.push(waiter);
      this.#asking ??= this.#ask(bucket);
      return waiter.promise;
    });
  }

  /** Gives a use back to this process. In the store, other processes may have taken the time behind it. */
  async giveBack([, , rate]: Bucket): Promise<void> {
    this.#returned += intervalOf(rate);
    if (this.#asking === undefined) this.#takeBack();
  }

  #takeBack(): void {
    const block = this.#block;
    if (block !== undefined) block.from = Math.max(block.start, block.from - this.#returned);
    this.#returned = 0;
  }

  #spendHeld([, , rate]: Bucket): Spent | undefined {
    const block = this.#block;
    if (block === undefined) return undefined;
    const now = this.#timeOf(block);
    const from = Math.max(block.from, now);
    const until = from + intervalOf(rate);
    if (until > block.until) return undefined;
    block.from = until;
    return spentOf(rate, { from, until, now });
  }

  /**
   * One question for all who wait; another for those who came meanwhile, if what was taken is not enough. A store
   * that fails fails those as well: else each would wait for its deadline twice.
   */
  async #ask(bucket: Bucket): Promise<void> {
    while (this.#waiting.length > 0) {
      const waiters = this.#waiting.splice(0);
      try {
        const answers = await this.#take(bucket, waiters.length);
        this.#takeBack();
        for (const [n, spent] of answers.entries()) waiters[n]?.resolve(spent);
        this.#waiting.unshift(...waiters.slice(answers.length));
        while (this.#waiting.length > 0) {
          const spent = this.#spendHeld(bucket);
          if (spent === undefined) break;
          this.#waiting.shift()?.resolve(spent);
        }
      } catch (error) {
        this.#failed = true;
        this.#returned = 0;
        for (const { reject } of [...waiters, ...this.#waiting.splice(0)]) reject(error);
      }
    }
    this.#asking = undefined;
  }

  /** Takes for the callers that wait, and returns the answers to the first of them; to all of them if nothing is left. */
  async #take([namespace, key, rate]: Bucket, wanted: number): Promise<Spent[]> {
    const before = this.#block;
    this.#block = undefined;
    const unused = before && this.#unusedOf(before);
    const asked = this.#moment();
    const share = this.#failed ? 0 : SHARE;
    const taken = await this.#buckets.take(namespace, key, rate, { wanted, share, unused });
    this.#failed = false;
    const { now, until } = taken;
    const start = before && unused?.from === taken.from ? before.start : taken.from;
    const block = { start, from: taken.from, until, now, asked };
    this.#block = block;
    const interval = intervalOf(rate);
    const got = Math.min(wanted, (until - taken.from) / interval);
    if (got === 0) return Array<Spent>(wanted).fill(spentOf(rate, taken));
    block.from += got * interval;
    return Array.from({ length: got }, (_, n) => {
      const from = taken.from + n * interval;
      return spentOf(rate, { from, until: from + interval, now });
    });
  }

  #unusedOf(block: Block): Stretch {
    const { from, until } = block;
    return { from: Math.min(Math.max(from, this.#timeOf(block)), until), until };
  }

  /** The store's clock by now, or later. */
  #timeOf({ now, asked }: Block): number {
    const { set, monotonic } = this.#moment();
    return now + Math.ceil(1000 * Math.max(set - asked.set, monotonic - asked.monotonic));
  }

  #moment(): Moment {
    return { set: this.#clock.now(), monotonic: this.#clock.monotonic() };
  }
}
