import type { Clock } from '#shared/base/clock.ts';
import type { Write } from './write-group.ts';

/** Writes of one transaction. */
const MOST = 64;

/**
 * Gathers the writes of one turn of the event loop for `commit`, which is given at most 64, in the order in
 * which they came, and returns how many of them are done with. Before those that are left, other processes
 * have as much time as these took.
 */
export class WriteQueue {
  readonly #commit: (writes: readonly Write[]) => number;
  readonly #clock: Clock;
  readonly #writes: Write[] = [];

  constructor(commit: (writes: readonly Write[]) => number, clock: Clock) {
    this.#commit = commit;
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#writes.length === 0;
  }

  add(write: Write): void {
    if (this.#writes.push(write) === 1) setImmediate(() => this.#next());
  }

  /** Has everything done now. */
  drain(): void {
    while (!this.isEmpty) this.#take();
  }

  #next(): void {
    if (this.isEmpty) return;
    const began = this.#clock.monotonic();
    this.#take();
    if (!this.isEmpty) setTimeout(() => this.#next(), this.#clock.monotonic() - began);
  }

  #take(): void {
    this.#writes.splice(0, this.#commit(this.#writes.slice(0, MOST)));
  }
}
