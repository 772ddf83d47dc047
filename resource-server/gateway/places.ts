import type { Writable } from 'node:stream';
import { failure } from '../forwarding/failure.ts';

/** What a client that has left needs no more. */
export const LEFT = new Error('The client has left.');

/**
 * How many exchanges there are at a time. Who finds no place free waits in line, and is out of it at once when it
 * leaves: in those of connections a request stays until its turn, with all that hangs on it.
 */
export class Places {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(most: number) {
    this.#free = most;
  }

  /** How many wait in line. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves with what gives the place back. Rejects with HttpError 504 after `patience` milliseconds in line, and
   * with LEFT when the client's side of the exchange has closed.
   */
  async take(exchange: Writable, patience: number): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(exchange, patience);
    let taken = true;
    const giveBack = () => {
      if (taken) this.#giveBack();
      taken = false;
    };
    if (!exchange.destroyed) return giveBack;
    giveBack();
    throw LEFT;
  }

  #turn(exchange: Writable, patience: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // Out of the line at once: else it might be given a place that it takes no more.
    const goOut = (error: Error) => {
      this.#waiting.delete(resolve);
      reject(error);
    };
    const leave = () => goOut(LEFT);
    const timer = setTimeout(() => {
      goOut(failure(504, 'The application has no connection free.', undefined));
    }, patience);
    this.#waiting.add(resolve);
    exchange.once('close', leave);
    return promise.finally(() => {
      clearTimeout(timer);
      exchange.off('close', leave);
    });
  }

  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
