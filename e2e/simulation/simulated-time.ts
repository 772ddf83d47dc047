import type { Clock } from '#shared/base/clock.ts';
import type { Timers } from '#shared/base/timers.ts';

interface Event {
  /** Milliseconds since the simulation began. */
  readonly at: number;
  /** Events at the same time run in the order in which they were planned. */
  readonly order: number;
  happen(): void;
}

const isBefore = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

/**
 * Events in the order of their time (a binary heap). The time jumps from each to the next without waiting.
 */
export class SimulatedTime {
  #now = 0;
  #orders = 0;
  readonly #heap: Event[] = [];

  /** Milliseconds since the simulation began. */
  get now(): number {
    return this.#now;
  }

  plan(milliseconds: number, happen: () => void): void {
    const event = { at: this.#now + Math.max(0, milliseconds), order: this.#orders++, happen };
    let place = this.#heap.length;
    this.#heap.push(event);
    for (; place > 0;) {
      const parent = (place - 1) >> 1;
      const above = this.#heap[parent];
      if (above === undefined || isBefore(above, event)) break;
      this.#heap[place] = above;
      place = parent;
    }
    this.#heap[place] = event;
  }

  /** Runs all events until that time. After each event all resulting promises settle. */
  async run(until: number): Promise<void> {
    for (;;) {
      const [next] = this.#heap;
      if (next === undefined || next.at > until) break;
      this.#removeFirst();
      this.#now = next.at;
      next.happen();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = until;
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    const { length } = this.#heap;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      const [left, right] = [this.#heap[child], this.#heap[child + 1]];
      if (left === undefined || child >= length) break;
      let least = left;
      if (right !== undefined && isBefore(right, left)) {
        least = right;
        child += 1;
      }
      if (isBefore(last, least)) break;
      this.#heap[place] = least;
      place = child;
    }
    this.#heap[place] = last;
  }
}

/** A machine: its clocks run at their own rate, also while the machine is paused. */
export class Machine {
  readonly #time: SimulatedTime;
  readonly #rate: number;
  #standsUntil = 0;

  /** `rate`: seconds of its clocks per second. */
  constructor(time: SimulatedTime, rate: number) {
    this.#time = time;
    this.#rate = rate;
  }

  get standsStill(): boolean {
    return this.#time.now < this.#standsUntil;
  }

  standStill(milliseconds: number): void {
    this.#standsUntil = Math.max(this.#standsUntil, this.#time.now + milliseconds);
  }

  /** Plans an event on this machine, which runs after the end of a pause. Milliseconds of true time. */
  plan(milliseconds: number, happen: () => void): void {
    this.#time.plan(milliseconds, () => {
      if (this.standsStill) this.plan(this.#standsUntil - this.#time.now, happen);
      else happen();
    });
  }

  readonly clock: Clock = {
    now: () => 1_800_000_000_000 + this.#time.now * this.#rate,
    monotonic: () => this.#time.now * this.#rate,
  };

  readonly timers: Timers = {
    sleep: (milliseconds, { signal } = {}) =>
      new Promise<void>((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        this.plan(milliseconds / this.#rate, resolve);
      }),
    later: (milliseconds, callback) => {
      let isWanted = true;
      this.plan(milliseconds / this.#rate, () => {
        if (isWanted) callback();
      });
      return () => (isWanted = false);
    },
    timeout: (milliseconds) => {
      const controller = new AbortController();
      this.plan(milliseconds / this.#rate, () => controller.abort(new Error('no answer in time')));
      return controller.signal;
    },
  };
}
