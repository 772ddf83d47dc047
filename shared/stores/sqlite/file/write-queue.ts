import type { Clock } from '#shared/base/clock.ts';
import { BUSY_TIMEOUT } from './connection.ts';
import type { Turns } from './turns.ts';
import type { Outcome, Write } from './write-group.ts';
import { setImmediate, setTimeout } from '#shared/base/safe-timers.ts';

/** Writes of one transaction. */
const MOST = 64;
/** Milliseconds for which writes are gathered at most, however long the last transaction took. */
const LONGEST_GATHERING = 10;
/** Milliseconds between two looks at whether another process still writes: 1, 2, 4, and then this. */
const LONGEST_PAUSE = 5;
/** Milliseconds after which a process that waits asks for a turn: until then it costs nobody anything. */
const PATIENT = 20;
/** Milliseconds that others leave to a process that asks: it looks more often. */
const TURN = 8;

/**
 * Carries out the first of `writes`, and resolves to their outcomes, in the same order: none, when another process is
 * still writing after `patience` milliseconds, in which nothing else happens in this one. Never rejects.
 */
export type Commit = (writes: readonly Write[], patience: number) => Promise<readonly Outcome[]>;

/**
 * Gathers writes for `commit`, which is given at most 64, in the order in which they came: until nothing else comes in,
 * at most for as long as the last transaction took. Before those that are left, other processes have as much time as
 * these took; where another process waits, it has its turn before any other write, too. While another process writes
 * they wait, each for two seconds, and all else goes on.
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

  /** `handled`: how many events the event loop has handled. */
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

  /** Goes on when the event loop has handled nothing since `handled`, or after `until`. */
  #gather(until: number, handled?: number): void {
    const now = this.#handled();
    const isOver =
      now === handled || this.#waiting.length >= MOST || this.#clock.monotonic() >= until;
    if (isOver) this.#go();
    else setImmediate(() => this.#gather(until, now));
  }

  /** Has everything done now; what other processes keep from it for two seconds fails. */
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
    // Told last: a write that follows from an outcome waits for what was set just now.
    for (const tell of outcomes) tell();
  }

  /** Returns how long to wait before the next group. */
  #goOn(began: number): number {
    this.#heldUp = undefined;
    const now = this.#clock.monotonic();
    this.#took = now - began;
    if (!this.#turns.isAsked) return this.#took;
    const pause = Math.max(this.#took, TURN);
    this.#theirs = now + pause;
    return pause;
  }

  /** Returns how long to wait before the next try. */
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
