import { statSync, utimesSync, writeFileSync } from 'node:fs';
import type { Clock } from '#shared/base/clock.ts';

/** Milliseconds for which a process that has asked counts as waiting; it asks again within ten. */
const FRESH = 30;

/**
 * How processes that write to one file of SQLite tell each other that they wait, since SQLite's lock is no queue: by
 * when an empty file beside it was last touched. One that was killed is forgotten by itself.
 */
export class Turns {
  readonly #path: string;
  readonly #clock: Clock;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Says that this process waits. Where that cannot be said it waits all the same. */
  ask(): void {
    const now = this.#clock.now() / 1000;
    try {
      utimesSync(this.#path, now, now);
    } catch {
      try {
        writeFileSync(this.#path, '', { mode: 0o600 });
      } catch {
        // A folder that cannot be written to.
      }
    }
  }

  /** Whether somebody waits. It may be this process until a moment ago. Where nobody can look, nobody waits. */
  get isAsked(): boolean {
    try {
      const touched = statSync(this.#path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
      return Math.abs(this.#clock.now() - touched) < FRESH;
    } catch {
      return false;
    }
  }
}
