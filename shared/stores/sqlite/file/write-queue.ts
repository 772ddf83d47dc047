import type { Clock } from '#shared/base/clock.ts';
import { BUSY_TIMEOUT } from './connection.ts';
import type { Turns } from './turns.ts';
import type { Outcome, Write } from './write-group.ts';
import { setImmediate, setTimeout } from '#shared/base/safe-timers.ts';

/** Most writes of one transaction. */
const MOST = 64;
/** Most milliseconds for which writes are gathered. */
const LONGEST_GATHERING = 10;
/** Most milliseconds between two looks at whether another process still writes: 1, 2, 4, then this. */
const LONGEST_PAUSE = 5;
/** Milliseconds after which a waiting process asks for a turn, which costs the other processes time. */
const PATIENT = 20;
/** Milliseconds that others leave to a process that asks, and which looks more often. */
const TURN = 8;

/**
 * Carries out the first of `writes`. Resolves to their outcomes: none if another process was writing. Never rejects.
 */
export type Commit = (writes: readonly Write[], patience: number) => Promise<readonly Outcome[]>;

/**
 * Gathers up to 64 writes for `commit`, in order, until no event follows, and at most for the time of the last
 * transaction. Before the remaining writes, other processes get as much time. A process that waits gets a turn before
 * any write. While another process writes, each write waits for two seconds, and all other work goes on.
 */
export class WriteQueue {
  readonly #commit: Commit;
  readonly #clock: Clock;
  readonly #waiting: { readonly write: Write; readonly added: number }[] = [];
  readonly #turns: Turns;
  readonly #handled: () => number;
  /** Milliseconds that the last transaction took. */
  #took = 0;
  /** Another process has its turn until this time of the monotonic clock. */
  #theirs = -Infinity;
  /** Ends with the last group that was begun; never rejects. */
  #running: Promise<void> | undefined;
  #heldUp: { readonly since: number; pause: number } | undefined;

  /** `handled`: returns the number of events that the event loop has handled. */
  constructor(commit: Commit, clock: Clock, turns: Turns, handled: () => number) {
    this.#turns = turns;
    this.#handled = handled;
    this.#commit = commit;
    this.#clock = clock;
  }

  add(write: Write): void {
    const added = this.#clock.monotonic();
    if (this.#waiting.push({ write, added }) > 1) return;
    const rest = this.#theirs - added;
    const until = added + Math.min(this.#took, LONGEST_GATHERING);
    if (rest > 0) setTimeout(() => this.#go(), rest);
    else setImmediate(() => this.#gather(until));
  }

  /** Continues when the event loop has handled no event since `handled`, or after `until`. */
  #gather(until: number, handled?: number): void {
    const now = this.#handled();
    const isOver =
      now === handled || this.#waiting.length >= MOST || this.#clock.monotonic() >= until;
    if (isOver) this.#go();
    else setImmediate(() => this.#gather(until, now));
  }

  /** Does all writes now. Fails writes that other processes block for two seconds. */
  async drain(): Promise<void> {
    await this.#running;
    const end = this.#clock.monotonic() + BUSY_TIMEOUT;
    while (this.#waiting.length > 0) {
      const patience = Math.max(0, Math.ceil(end - this.#clock.monotonic()));
      const outcomes = await this.#take(patience);
      if (outcomes.length === 0) this.#giveUp(this.#waiting.length);
      for (const tell of outcomes) tell();
    }
  }

  #go(): void {
    this.#running = this.#next();
  }

  async #next(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const began = this.#clock.monotonic();
    const outcomes = await this.#take(0);
    const pause = outcomes.length > 0 ? this.#goOn(began) : this.#holdUp(began);
    if (this.#waiting.length > 0) setTimeout(() => this.#go(), pause);
    // Reported last: a following write must see the new state of the queue.
    for (const tell of outcomes) tell();
  }

  /** Returns the pause before the next group. */
  #goOn(began: number): number {
    this.#heldUp = undefined;
    const now = this.#clock.monotonic();
    this.#took = now - began;
    if (!this.#turns.isAsked) return this.#took;
    const pause = Math.max(this.#took, TURN);
    this.#theirs = now + pause;
    return pause;
  }

  /** Returns the pause before the next attempt. */
  #holdUp(began: number): number {
    const heldUp = (this.#heldUp ??= { since: began, pause: 1 });
    if (began - heldUp.since >= PATIENT) this.#turns.ask();
    const isEarly = ({ added }: { readonly added: number }) =>
      began < Math.max(added, heldUp.since) + BUSY_TIMEOUT;
    const early = this.#waiting.findIndex(isEarly);
    this.#giveUp(early === -1 ? this.#waiting.length : early);
    if (this.#waiting.length === 0) this.#heldUp = undefined;
    const { pause } = heldUp;
    heldUp.pause = Math.min(2 * pause, LONGEST_PAUSE);
    return pause;
  }

  async #take(patience: number): Promise<readonly Outcome[]> {
    const first = this.#waiting.slice(0, MOST).map(({ write }) => write);
    const outcomes = await this.#commit(first, patience);
    this.#waiting.splice(0, outcomes.length);
    return outcomes;
  }

  #giveUp(count: number): void {
    const cause = new Error('database is locked');
    for (const { write } of this.#waiting.splice(0, count)) write.fail(cause);
  }
}
