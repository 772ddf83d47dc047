import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Share } from '#shared/base/counts.js';
import { setInterval } from '#shared/base/safe-timers.ts';

/** Counts of connections, requests or octets in use. */
export interface Tally {
  /** Reserves the shares if all of them are available, until they are given back. Returns whether it did. */
  take(shares: readonly Share[]): Awaitable<boolean>;
  give(shares: readonly Share[]): void;
}

/** Milliseconds after which an unused amount is returned. */
const STAY = 1000;

/** An amount reserved in the other tally, and the part that callers here hold. */
interface Lease {
  taken: number;
  held: number;
  used: boolean;
}

/** A caller that waits for more than this process has reserved. */
interface Waiting {
  readonly shares: readonly Share[];
  readonly tell: (taken: boolean) => void;
}

/**
 * A tally that reserves amounts in another tally in blocks, so that small shares need no request of their own. All
 * processes together never hold more than the other tally allows. They may hold less, by one block for each process
 * that was active recently.
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

  /** Sends one request at a time for all waiting callers: a block for each of them could soon exceed the limit. */
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

  /** Returns the shares that the waiting callers need together, in whole blocks. */
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

  /** Returns the part that no caller here holds, except for the amount `but`. */
  #return(of: string, lease: Lease, but: number): void {
    const amount = lease.taken - lease.held - but;
    if (amount <= 0) return;
    lease.taken -= amount;
    this.#from.give([{ of, amount, most: amount }]);
  }
}
