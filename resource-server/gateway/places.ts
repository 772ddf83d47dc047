import { HttpError } from '#shared/http/answer.ts';
import type { Exchange } from '../forwarding/sink.ts';

/** What a client that has left needs no more. */
export const LEFT = new Error('The client has left.');

/** So many accounts it takes to hold all places. */
const SHARE = 2;

/**
 * How many exchanges there are at a time, of one account no more than its share: those who find no place free wait in
 * a line of their account, and accounts take turns. Who leaves is out of it at once: in the lines of connections a
 * request stays until its turn, with all that hangs on it.
 */
export class Places {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #held = new Map<string, number>();
  readonly #each: number;
  #free: number;

  constructor(most: number) {
    this.#free = most;
    this.#each = Math.ceil(most / SHARE);
  }

  /** How many wait. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Resolves with what gives the place back. Rejects with HttpError 503 after `patience` milliseconds in line, and
   * with LEFT when the client's side of the exchange has closed.
   */
  async take(account: string, exchange: Exchange, patience: number): Promise<() => void> {
    if (this.#free > 0 && this.#mayHold(account)) this.#hold(account);
    else await this.#turn(account, exchange, patience);
    let taken = true;
    const giveBack = () => {
      if (taken) this.#giveBack(account);
      taken = false;
    };
    if (!exchange.destroyed) return giveBack;
    giveBack();
    throw LEFT;
  }

  #turn(account: string, exchange: Exchange, patience: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // Out of the line at once: else it might be given a place that it takes no more.
    const goOut = (error: Error) => {
      this.#leaveLine(account, resolve);
      reject(error);
    };
    const leave = () => goOut(LEFT);
    const timer = setTimeout(() => {
      const detail = 'The gateway has no connection to the application free. Try again.';
      goOut(new HttpError(503, detail, { 'Retry-After': '1' }));
    }, patience);
    const line = this.#waiting.get(account) ?? new Set();
    this.#waiting.set(account, line.add(resolve));
    exchange.once('close', leave);
    return promise.finally(() => {
      clearTimeout(timer);
      exchange.off('close', leave);
    });
  }

  #leaveLine(account: string, one: () => void): void {
    const line = this.#waiting.get(account);
    line?.delete(one);
    if (line?.size === 0) this.#waiting.delete(account);
  }

  #mayHold(account: string): boolean {
    return (this.#held.get(account) ?? 0) < this.#each;
  }

  #hold(account: string): void {
    this.#free -= 1;
    this.#held.set(account, (this.#held.get(account) ?? 0) + 1);
  }

  /** For one other: of those who wait while there is a place free, each has its share. */
  #giveBack(account: string): void {
    this.#free += 1;
    const left = (this.#held.get(account) ?? 0) - 1;
    if (left > 0) this.#held.set(account, left);
    else this.#held.delete(account);

    for (const [next, line] of this.#waiting) {
      const [first] = line;
      if (first === undefined || !this.#mayHold(next)) continue;
      this.#waiting.delete(next);
      this.#waiting.set(next, line); // behind the others
      this.#leaveLine(next, first);
      this.#hold(next);
      return first();
    }
  }
}
