import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { Share } from '#shared/base/counts.js';

/** Counts of what is under way. */
export interface Tally {
  /** Whether all of the shares are there, which are then held until they are given back. */
  take(shares: readonly Share[]): Awaitable<boolean>;
  give(shares: readonly Share[]): void;
}

/** Milliseconds after which what nobody used meanwhile goes back. */
const STAY = 1000;

/** What was taken of something, and how much of that is held by whoever asked here. */
interface Lease {
  taken: number;
  held: number;
  used: boolean;
}

interface Wanted extends Share {
  readonly lease: Lease;
}

/**
 * A tally that takes from another one in blocks, so that a share that is small need not be asked for. Together no more
 * is held than the other allows; it may be less by a block for each, for as long as they have used it lately.
 */
export class Leases implements Tally {
  readonly #from: Tally;
  readonly #block: number;
  readonly #leases = new Map<string, Lease>();
  #timer: NodeJS.Timeout | undefined;

  constructor(from: Tally, block: number) {
    this.#from = from;
    this.#block = block;
  }

  take(shares: readonly Share[]): Awaitable<boolean> {
    this.#timer ??= setInterval(() => this.#giveBack(), STAY).unref();
    const wanted = shares.map((share) => ({ ...share, lease: this.#leaseOf(share.of) }));
    const lacking = wanted.filter(({ lease, amount }) => lease.held + amount > lease.taken);
    for (const { lease, amount } of wanted) lease.held += amount;
    if (lacking.length === 0) return true;
    return andThen(this.#more(lacking), (granted) => {
      if (!granted) for (const { lease, amount } of wanted) lease.held -= amount;
      return granted;
    });
  }

  give(shares: readonly Share[]): void {
    for (const share of shares) {
      const lease = this.#leaseOf(share.of);
      lease.held -= share.amount;
      this.#return({ ...share, lease }, this.#block);
    }
  }

  /** In blocks; where these are too much, no more than what is asked for. */
  #more(lacking: readonly Wanted[]): Awaitable<boolean> {
    const blocks = lacking.map((one) => ({
      ...one,
      amount: Math.ceil(one.amount / this.#block) * this.#block,
    }));
    return andThen(this.#take(blocks), (granted) => granted || this.#take(lacking));
  }

  #take(wanted: readonly Wanted[]): Awaitable<boolean> {
    const shares = wanted.map(({ of, amount, most }) => ({ of, amount, most }));
    return andThen(this.#from.take(shares), (granted) => {
      if (granted) for (const { lease, amount } of wanted) lease.taken += amount;
      return granted;
    });
  }

  #leaseOf(of: string): Lease {
    const lease = this.#leases.get(of) ?? { taken: 0, held: 0, used: true };
    this.#leases.set(of, lease);
    lease.used = true;
    return lease;
  }

  #giveBack(): void {
    for (const [of, lease] of this.#leases) {
      if (!lease.used) this.#return({ of, lease }, 0);
      lease.used = false;
      if (lease.taken === 0 && lease.held === 0) this.#leases.delete(of);
    }
    if (this.#leases.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** What is held by nobody here, but for so much. */
  #return({ of, lease }: Pick<Wanted, 'of' | 'lease'>, but: number): void {
    const amount = lease.taken - lease.held - but;
    if (amount <= 0) return;
    lease.taken -= amount;
    this.#from.give([{ of, amount, most: amount }]);
  }
}
