import { Bag, type Placed } from '#shared/base/bag.ts';
import type { Clock } from '#shared/base/clock.ts';
import { BUSY_TIMEOUT } from './connection.ts';
import type { Turns } from './turns.ts';
import type { Write } from './write-group.ts';

/** Writes of one transaction. */
const MOST = 64;
/** Milliseconds between two looks at whether another process still writes: 1, 2, 4, and then this. */
const LONGEST_PAUSE = 5;
/** Milliseconds after which a process that waits asks for a turn: until then it costs nobody anything. */
const PATIENT = 20;
/** Milliseconds that others leave to a process that asks: it looks more often. */
const TURN = 8;

interface Reader extends Placed {
  readonly pass: () => void;
}

/**
 * Carries out the first of `writes`, and returns how many are done with, whatever came of them: none, when
 * another process is still writing after `patience` milliseconds, in which nothing else happens in this one.
 */
export type Commit = (writes: readonly Write[], patience: number) => number;

/**
 * Gathers the writes of one turn of the event loop for `commit`, which is given at most 64, in the order in
 * which they came. Before those that are left, other processes have as much time as these took; where another
 * process waits, it has its turn before any other write, too. While another process writes they wait, each for two
 * seconds, and all else goes on.
 */
export class WriteQueue {
  readonly #commit: Commit;
  readonly #clock: Clock;
  readonly #waiting: { readonly write: Write; readonly added: number }[] = [];
  /** Callers that wait until a write is done, at most until it is held up. */
  readonly #readers = new Bag<Reader>();
  readonly #turns: Turns;
  /** Another process has its turn until this time of the monotonic clock. */
  #theirs = -Infinity;
  #heldUp: { readonly since: number; pause: number } | undefined;

  constructor(commit: Commit, clock: Clock, turns: Turns) {
    this.#turns = turns;
    this.#commit = commit;
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** True if another process that writes holds it up: no waiting write has begun. */
  get isHeldUp(): boolean {
    return this.#heldUp !== undefined;
  }

  /** Resolves when that is done with, or held up. */
  passed(written: Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const reader: Reader = {
      place: -1,
      pass: () => {
        this.#readers.delete(reader);
        resolve();
      },
    };
    this.#readers.add(reader);
    written.then(reader.pass, reader.pass);
    return promise;
  }

  add(write: Write): void {
    const waiting = { write, added: this.#clock.monotonic() };
    if (this.#waiting.push(waiting) > 1) return;
    const rest = this.#theirs - this.#clock.monotonic();
    if (rest > 0) setTimeout(() => this.#next(), rest);
    else setImmediate(() => this.#next());
  }

  /** Has everything done now; what other processes keep from it for two seconds fails. */
  drain(): void {
    const end = this.#clock.monotonic() + BUSY_TIMEOUT;
    while (!this.isEmpty) {
      const patience = Math.max(0, Math.ceil(end - this.#clock.monotonic()));
      if (this.#take(patience) === 0) this.#giveUp(this.#waiting.length);
    }
  }

  #next(): void {
    if (this.isEmpty) return;
    const began = this.#clock.monotonic();
    const pause = this.#take(0) > 0 ? this.#goOn(began) : this.#holdUp(began);
    if (!this.isEmpty) setTimeout(() => this.#next(), pause);
  }

  /** Returns how long to wait before the next group. */
  #goOn(began: number): number {
    this.#heldUp = undefined;
    const now = this.#clock.monotonic();
    if (!this.#turns.isAsked) return now - began;
    const pause = Math.max(now - began, TURN);
    this.#theirs = now + pause;
    return pause;
  }

  /** Returns how long to wait before the next try. */
  #holdUp(began: number): number {
    const heldUp = (this.#heldUp ??= { since: began, pause: 1 });
    if (began - heldUp.since >= PATIENT) this.#turns.ask();
    for (const { pass } of this.#readers.toArray()) pass();
    const isEarly = ({ added }: { readonly added: number }) =>
      began < Math.max(added, heldUp.since) + BUSY_TIMEOUT;
    const early = this.#waiting.findIndex(isEarly);
    this.#giveUp(early === -1 ? this.#waiting.length : early);
    if (this.isEmpty) this.#heldUp = undefined;
    const { pause } = heldUp;
    heldUp.pause = Math.min(2 * pause, LONGEST_PAUSE);
    return pause;
  }

  #take(patience: number): number {
    const first = this.#waiting.slice(0, MOST).map(({ write }) => write);
    const done = this.#commit(first, patience);
    this.#waiting.splice(0, done);
    return done;
  }

  #giveUp(count: number): void {
    const cause = new Error('database is locked');
    for (const { write } of this.#waiting.splice(0, count)) write.fail(cause);
  }
}
