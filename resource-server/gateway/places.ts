import { Bag } from '#shared/base/bag.ts';
import { fairShare } from '#shared/base/counts.js';
import { fewATurn } from '#shared/base/few-a-turn.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { Holder } from '../space/account.ts';
import type { Flow } from '../forwarding/flow.ts';
import type { Ending } from '../forwarding/sink.ts';
import { type Held, SlowClients } from './slow-clients.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

/** The error for a client that left while it waited. */
export const LEFT = new Error('The client has left.');

/** An exchange that holds a place, or waits for one. */
export interface Bid {
  readonly holders: readonly Holder[];
  readonly exchange: Ending;
  readonly flow: Flow;
}

/** The waiting bids of the same holders. */
interface Line {
  readonly holders: readonly Holder[];
  readonly waiting: Set<() => void>;
}

/**
 * Limits the exchanges at a time, and shares them fairly.
 * A holder gets its part of what the others leave (`fairShare`). Exchanges without a place wait in a line per holders.
 * A free place goes to the line whose holders have the fewest places, in rotation between equal lines. While a line
 * waits, slow clients of holders with more places lose theirs. A client that leaves is removed at once. In undici's
 * queues its request would stay in memory until its turn.
 */
export class Places {
  readonly #most: number;
  readonly #patience: number;
  #free: number;
  readonly #lines = new Map<string, Line>();
  readonly #held = new Map<string, number>();
  readonly #taken = new Bag<Held>();
  readonly #slow: SlowClients;
  /** Spreads the refusals of clients that arrived together and have waited too long together. */
  readonly #givingUp = fewATurn();

  /** `patience`: milliseconds for which a bid may wait. */
  constructor(most: number, patience: number) {
    this.#most = most;
    this.#patience = patience;
    this.#free = most;
    this.#slow = new SlowClients({
      patience,
      taken: this.#taken,
      lines: this.#lines,
      heldBy: ({ name }) => this.#held.get(name) ?? 0,
    });
  }

  /** The number of waiting bids. */
  get waiting(): number {
    return [...this.#lines.values()].reduce((sum, { waiting }) => sum + waiting.size, 0);
  }

  /**
   * Resolves to a function that gives the place back. Rejects with HttpError 503 after the patience, and with LEFT when
   * the client's side of the exchange has closed.
   */
  async take(bid: Bid): Promise<() => void> {
    if (this.#mayHold(bid.holders)) this.#count(bid.holders, 1);
    else await this.#turn(bid);
    const { holders } = bid;
    const held: Held = { holders, flow: bid.flow, place: -1 };
    this.#taken.add(held);
    const giveBack = () => {
      if (this.#taken.delete(held)) this.#giveBack(holders);
    };
    if (!bid.exchange.destroyed) return giveBack;
    giveBack();
    throw LEFT;
  }

  #turn({ holders, exchange }: Bid): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const key = holders.map(({ name }) => name).join('\n');
    // Removed at once, since otherwise it could get a place that it no longer takes.
    const goOut = (error: Error) => {
      this.#leaveLine(key, resolve);
      reject(error);
    };
    const leave = () => goOut(LEFT);
    const timer = setTimeout(() => {
      const detail = 'The gateway has no connection to the application free. Try again.';
      const error = new HttpError(503, detail, { 'Retry-After': '1' });
      void this.#givingUp().then(() => goOut(error));
    }, this.#patience);
    const line = this.#lines.get(key) ?? { holders, waiting: new Set() };
    line.waiting.add(resolve);
    this.#lines.set(key, line);
    this.#slow.watch();
    exchange.once('close', leave);
    return promise.finally(() => {
      clearTimeout(timer);
      exchange.off('close', leave);
    });
  }

  #leaveLine(key: string, one: () => void): void {
    const line = this.#lines.get(key);
    line?.waiting.delete(one);
    if (line?.waiting.size === 0) this.#lines.delete(key);
  }

  #mayHold(holders: readonly Holder[]): boolean {
    const taken = this.#most - this.#free;
    return (
      this.#free > 0 &&
      holders.every(({ name, part }) => {
        const held = this.#held.get(name) ?? 0;
        return held < fairShare(part * this.#most, this.#most, taken - held);
      })
    );
  }

  #count(holders: readonly Holder[], change: 1 | -1): void {
    this.#free -= change;
    for (const { name } of holders) {
      const held = (this.#held.get(name) ?? 0) + change;
      if (held > 0) this.#held.set(name, held);
      else this.#held.delete(name);
    }
  }

  #giveBack(holders: readonly Holder[]): void {
    this.#count(holders, -1);
    for (let next = this.#next(); next; next = this.#next()) {
      const [key, line] = next;
      const [first] = line.waiting;
      this.#lines.delete(key);
      this.#lines.set(key, line); // moves the line behind the others
      if (first === undefined) return;
      this.#leaveLine(key, first);
      this.#count(line.holders, 1);
      first();
    }
  }

  /** The line with the fewest places, of all lines that may have one more. */
  #next(): [string, Line] | undefined {
    if (this.#free === 0) return undefined;
    let [fewest, next]: [number, [string, Line] | undefined] = [Infinity, undefined];
    for (const [key, line] of this.#lines) {
      const has = Math.max(...line.holders.map(({ name }) => this.#held.get(name) ?? 0));
      if (has >= fewest || !this.#mayHold(line.holders)) continue;
      [fewest, next] = [has, [key, line]];
    }
    return next;
  }
}
