import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Share } from '#shared/base/counts.js';
import { setInterval } from '#shared/base/safe-timers.ts';

/** Counts of what is under way. */
export interface Tally {
  /** Whether all of the shares are there, which are then held until they are given back. */
  take(shares: readonly Share[]): Awaitable<boolean>;
  give(shares: readonly Share[]): void;
}

/** Milliseconds after which an unused amount goes back. */
const STAY = 1000;

/** The amount that was taken of something, and the part of it that callers here hold. */
interface Lease {
  taken: number;
  held: number;
  used: boolean;
}

/** A caller that wants more than is here. */
interface Waiting {
  readonly shares: readonly Share[];
  readonly tell: (taken: boolean) => void;
}

/**
 * A tally that takes from another one in blocks, so that a share that is small need not be asked for. Together no more
 * is held than the other allows; it may be less by a block for each, for as long as they have used it lately.
 */
export class Leases implements Tally {
  readonly #from: Tally;
  readonly #block: number;
  readonly #leases = new Map<string, Lease>();
  readonly #waiting: Waiting[] = [];
  #asking = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(from: Tally, block: number) {
    this.#from = from;
    this.#block = block;
  }

  take(shares: readonly Share[]): Awaitable<boolean> {
    if (this.#isHere(shares)) return this.#hold(shares);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.push({ shares, tell: resolve });
    if (!this.#asking) void this.#ask();
    return promise;
  }

  give(shares: readonly Share[]): void {
    for (const share of shares) {
      const lease = this.#leaseOf(share.of);
      lease.held -= share.amount;
      this.#return(share.of, lease, this.#block);
    }
  }

  #isHere(shares: readonly Share[]): boolean {
    return shares.every(({ of, amount }) => {
      const { taken, held } = this.#leaseOf(of);
      return held + amount <= taken;
    });
  }

  #hold(shares: readonly Share[]): true {
    for (const { of, amount } of shares) this.#leaseOf(of).held += amount;
    return true;
  }

  /** One question at a time, for all who wait: a block for each of them would soon be more than there may be. */
  async #ask(): Promise<void> {
    this.#asking = true;
    while (this.#waiting.length > 0) {
      const lacking = this.#waiting.splice(0).filter(({ shares, tell }) => {
        if (!this.#isHere(shares)) return true;
        tell(this.#hold(shares));
        return false;
      });
      if (lacking.length === 0) continue;
      const blocks = this.#blocksFor(lacking);
      if (await this.#from.take(blocks)) {
        this.#add(blocks);
        for (const { shares, tell } of lacking) tell(this.#hold(shares));
      } else {
        await Promise.all(
          lacking.map(async ({ shares, tell }) => {
            if (!(await this.#from.take(shares))) return tell(false);
            this.#add(shares);
            tell(this.#hold(shares));
          }),
        );
      }
    }
    this.#asking = false;
  }

  /** Returns the shares that they want together, in whole blocks. */
  #blocksFor(lacking: readonly Waiting[]): Share[] {
    const sums = new Map<string, Share>();
    for (const share of lacking.flatMap(({ shares }) => shares)) {
      sums.set(share.of, { ...share, amount: share.amount + (sums.get(share.of)?.amount ?? 0) });
    }
    const inBlocks = (amount: number) => Math.ceil(amount / this.#block) * this.#block;
    return Array.from(sums.values(), ({ amount, ...share }) => ({
      amount: inBlocks(amount),
      ...share,
    }));
  }

  #add(shares: readonly Share[]): void {
    for (const { of, amount } of shares) this.#leaseOf(of).taken += amount;
  }

  #leaseOf(of: string): Lease {
    const lease = this.#leases.get(of) ?? { taken: 0, held: 0, used: true };
    this.#leases.set(of, lease);
    this.#timer ??= setInterval(() => this.#giveBack(), STAY).unref();
    lease.used = true;
    return lease;
  }

  #giveBack(): void {
    for (const [of, lease] of this.#leases) {
      if (!lease.used) this.#return(of, lease, 0);
      lease.used = false;
      if (lease.taken === 0 && lease.held === 0) this.#leases.delete(of);
    }
    if (this.#leases.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Gives back the part that nobody here holds, except for so much. */
  #return(of: string, lease: Lease, but: number): void {
    const amount = lease.taken - lease.held - but;
    if (amount <= 0) return;
    lease.taken -= amount;
    this.#from.give([{ of, amount, most: amount }]);
  }
}
