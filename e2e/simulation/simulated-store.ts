import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { FeedPosition } from '#shared/stores/revocation/feed-position.ts';
import type { FeedEntry, FollowedProcess, Followers } from '#shared/stores/revocation/followers.ts';
import type { Revocations } from '#shared/stores/revocation/revocations.ts';
import type { Machine, SimulatedTime } from './simulated-time.ts';

export const EPOCH = 'simulated-epoch-000000';
/** Milliseconds to the store, one way, and until a process learns of a revocation. */
const WAY = 0.5;
const HEARD = 1;

/** A store in memory that all authorization server processes use over a network. */
export class SimulatedStore {
  readonly #time: SimulatedTime;
  readonly #entries: FeedEntry[] = [];
  /** The time of each write. */
  readonly #written: number[] = [];
  readonly #rows = new Map<string, FollowedProcess>();
  readonly #generations = new Map<string, number>();
  #settled = false;
  #awayUntil = 0;

  constructor(time: SimulatedTime) {
    this.#time = time;
  }

  /** Makes each call fail at once for this time. */
  goAway(milliseconds: number): void {
    this.#awayUntil = this.#time.now + milliseconds;
  }

  /** Returns the last entry that a listener has received. */
  heardUpTo(): string {
    let last = this.#written.length;
    while (last > 0 && (this.#written[last - 1] ?? 0) > this.#time.now - HEARD) last -= 1;
    return `${last}`;
  }

  revocationsOf(machine: Machine): Pick<Revocations, 'revoke' | 'raise'> {
    return {
      revoke: (kind, id, until) => this.#ask(machine, () => this.#append({ kind, id, until })),
      raise: (kind, id, until) =>
        this.#ask(machine, () => {
          const generation = (this.#generations.get(id) ?? 0) + 1;
          this.#generations.set(id, generation);
          this.#append({ kind, id, generation, until });
          return generation;
        }),
    };
  }

  followersOf(machine: Machine): Followers {
    return {
      look: () =>
        this.#ask(machine, () => ({
          epoch: EPOCH,
          last: this.#last,
          processes: [...this.#rows.values()],
          settled: this.#settled,
        })),
      put: (process) =>
        this.#ask(machine, () => {
          this.#rows.set(process.id, process);
          return true;
        }),
      remove: (process) =>
        this.#ask(machine, () => {
          if (this.#rows.get(process.id)?.beat === process.beat) this.#rows.delete(process.id);
        }),
      settle: () => this.#ask(machine, () => void (this.#settled = true)),
      page: (after, count) => this.#ask(machine, () => this.#page(after, count)),
    };
  }

  get #last(): number {
    return this.#entries.length;
  }

  #append(entry: FeedEntry): void {
    this.#entries.push(entry);
    this.#written.push(this.#time.now);
  }

  #page(after: FeedPosition | undefined, count: number) {
    const from = after?.entry ?? 0;
    const entries = this.#entries.slice(from, from + count);
    const end = from + entries.length;
    return { epoch: EPOCH, last: end, complete: end === this.#entries.length, entries };
  }

  #ask<T>(machine: Machine, answer: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#time.plan(WAY, () => {
        if (this.#time.now < this.#awayUntil) {
          machine.plan(WAY, () => reject(new StoreUnavailable('simulated')));
          return;
        }
        const said = answer();
        machine.plan(WAY, () => resolve(said));
      });
    });
  }
}
