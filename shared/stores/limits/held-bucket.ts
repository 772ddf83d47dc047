import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import { type Buckets, intervalOf, spentOf, type Stretch, type Taken } from './buckets.ts';
import type { LimitNamespace, Rate, Spent } from './limits.ts';
import type { boundedWaiting } from '../outage/waiting.ts';

export type Bucket = readonly [namespace: LimitNamespace, key: string, rate: Rate];

/**
 * Of what is left in a bucket: that much too early may a client be refused for what another process holds. Not
 * so many, since what is held runs out with time: a few would be over before the next request came.
 */
const SHARE = 1 / 16;

/** What was taken; `from`: of which this is not spent yet. */
interface Block extends Taken {
  from: number;
  /** What is given back is not before this. */
  readonly start: number;
  /** Both clocks of this process, before the store was asked. */
  readonly asked: Moment;
}

type Moment = Readonly<Record<'set' | 'monotonic', number>>;

/**
 * What this process holds of one bucket; lost with the process.
 *
 * However many processes hold something, no more is let in than the rate allows. Each use is an interval of the
 * bucket's time; no two are the same, since the store moves the end of what is taken; none is over when it is
 * spent, and none is further ahead than the burst: so within any time there are as many as fit into that and
 * the burst. Hence what is held runs out while the bucket fills. What the store's clock says by now is never
 * taken for earlier than it is: time counts from before it was asked, by that clock of ours which went further,
 * since one may be set back and the other stands still while a machine sleeps.
 */
export class HeldBucket {
  readonly #buckets: Buckets;
  readonly #clock: Clock;
  readonly #wait: ReturnType<typeof boundedWaiting>;
  /** None while the store is asked. */
  #block: Block | undefined;
  readonly #waiting: PromiseWithResolvers<Spent>[] = [];
  #asking: Promise<void> | undefined;
  /** Of the bucket's time, while the store is asked. */
  #returned = 0;
  /** The store did not answer the last question. It may do later what it was asked, and nobody has the block. */
  #failed = false;

  /** `wait`: that of all buckets of the process. */
  constructor(buckets: Buckets, clock: Clock, wait: ReturnType<typeof boundedWaiting>) {
    this.#buckets = buckets;
    this.#clock = clock;
    this.#wait = wait;
  }

  /** There at once if it is held. A refusal is always the store's own. */
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

  /** To this process: in the store others may have taken what comes behind it. */
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

  /** What to tell the first of those who want something: all of them, when there is nothing. */
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
