import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import { type Buckets, intervalOf, spentOf, type Stretch, type Taken } from './buckets.ts';
import type { LimitNamespace, Rate, Spent } from './limits.ts';
import type { boundedWaiting } from '../outage/waiting.ts';

export type Bucket = readonly [namespace: LimitNamespace, key: string, rate: Rate];

/**
 * The share of the rest of a bucket that a process takes at once. If another process holds this share, a client may be
 * refused earlier. A fixed number would not do: held uses expire, so few uses would expire before the next request.
 */
const SHARE = 1 / 16;

/** The stretch that was taken. The part from `from` on is not spent. */
interface Block extends Taken {
  from: number;
  /** A returned use begins at this time or later. */
  readonly start: number;
  /** Both clocks of this process, before the store was asked. */
  readonly asked: Moment;
}

type Moment = Readonly<Record<'set' | 'monotonic', number>>;

/** The part of one bucket that this process holds. It is lost with the process. */
export class HeldBucket {
  readonly #buckets: Buckets;
  readonly #clock: Clock;
  readonly #wait: ReturnType<typeof boundedWaiting>;
  /** Undefined while the store is asked. */
  #block: Block | undefined;
  readonly #waiting: PromiseWithResolvers<Spent>[] = [];
  #asking: Promise<void> | undefined;
  /** The returned time of the bucket while the store is asked, in microseconds. */
  #returned = 0;
  /** The store did not answer the last query, and may still execute it. No process holds that block. */
  #failed = false;

  /** `wait`: shared by all buckets of the process. */
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

  /** Returns a use to this process. In the store, another process may have taken the time after it. */
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

  /** One query for all waiting callers, and another for later ones. A failure fails them all. */
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

  /** Takes for the waiting callers. Returns the answers to the first callers, or to all of them if nothing is left. */
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

  /** The present time of the store's clock, or a later time. */
  #timeOf({ now, asked }: Block): number {
    const { set, monotonic } = this.#moment();
    return now + Math.ceil(1000 * Math.max(set - asked.set, monotonic - asked.monotonic));
  }

  #moment(): Moment {
    return { set: this.#clock.now(), monotonic: this.#clock.monotonic() };
  }
}
