import type { Clock } from '#shared/base/clock.ts';
import { forAll } from '#shared/base/for-all.ts';
import { type Random, randomId } from '#shared/base/random.ts';
import type { FollowedProcess, Followers } from '#shared/stores/revocation/followers.ts';
import { FRESH } from '#shared/stores/revocation/lease.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Register } from './register.ts';

export interface FollowerRowOptions {
  readonly followers: Followers;
  readonly register: Register;
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds. */
  readonly lease: number;
}

/** The row that tells revoking processes that this process has followers. */
export class FollowerRow {
  readonly #options: FollowerRowOptions;
  /** The row of the last attempt to write it; the effect of a failed attempt is unknown. */
  #row: FollowedProcess;
  #confirmed = 0;
  /** The start of the last successful write, by both clocks, since the monotonic clock stops while a machine sleeps. */
  #written = { monotonic: -Infinity, wall: -Infinity };
  #epoch: string | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** Writes the row. Only one write runs at a time; a call during a write waits for the next one. */
  readonly write: () => Promise<void>;

  constructor(options: FollowerRowOptions) {
    this.#options = options;
    this.#row = this.#newRow();
    this.write = forAll(() => this.#inTurn(() => this.#write()));
  }

  /** The epoch of the store in which the row was written. */
  get epoch(): string | undefined {
    return this.#epoch;
  }

  /** The written entry up to which the followers of this process know everything. */
  get confirmed(): number {
    return this.#confirmed;
  }

  /** Resolves when the row exists, and will exist for as long as answers from now on are trusted. */
  async ensure(): Promise<void> {
    const { clock, lease } = this.#options;
    const age = clock.monotonic() - this.#written.monotonic;
    const wallAge = Math.abs(clock.now() - this.#written.wall);
    if (Math.max(age, wallAge) > lease * FRESH) await this.write();
  }

  /** Removes the row when this process has no followers left. */
  async remove(): Promise<void> {
    this.#written = { monotonic: -Infinity, wall: -Infinity };
    await this.#inTurn(() => this.#options.followers.remove(this.#row));
  }

  #newRow(): FollowedProcess {
    const { random, lease } = this.#options;
    return { id: randomId(random), confirmed: 0, lease, beat: 0 };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  async #write(): Promise<void> {
    const { followers, register, clock } = this.#options;
    const written = { monotonic: clock.monotonic(), wall: clock.now() };
    this.#epoch ??= (await followers.look()).epoch;
    if (this.#epoch === undefined) throw new StoreUnavailable('the store has no epoch');
    const confirmed = register.confirmed(clock.monotonic());
    const row = (this.#row = { ...this.#row, confirmed, beat: this.#row.beat + 1 });
    const there = await followers.put(row, this.#epoch);
    if (!there || this.#row !== row) {
      this.forget();
      throw new StoreUnavailable('the store has another memory than those who follow');
    }
    this.#confirmed = confirmed;
    this.#written = written;
  }

  /** All followers of an earlier memory of the store have to begin again. */
  forget(): void {
    this.#options.register.clear();
    this.#epoch = undefined;
    this.#written = { monotonic: -Infinity, wall: -Infinity };
    this.#row = this.#newRow();
    this.#confirmed = 0;
  }
}
