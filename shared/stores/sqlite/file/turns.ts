import { statSync, utimesSync, writeFileSync } from 'node:fs';
import type { Clock } from '#shared/base/clock.ts';

/** Milliseconds for which a process counts as waiting after it has asked. It asks again within ten. */
const FRESH = 30;

/** Lets processes take turns, since SQLite's lock is no queue: a waiting process touches an empty file. */
export class Turns {
  readonly #path: string;
  readonly #clock: Clock;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Says that this process waits. If the file cannot be touched, the process waits all the same. */
  ask(): void {
    const now = this.#clock.now() / 1000;
    try {
      utimesSync(this.#path, now, now);
    } catch {
      try {
        writeFileSync(this.#path, '', { mode: 0o600 });
      } catch {
        // The folder is not writable.
      }
    }
  }

  /** Whether a process waits, perhaps this one until a moment ago. False if the file cannot be read. */
  get isAsked(): boolean {
    try {
      const touched = statSync(this.#path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
      return Math.abs(this.#clock.now() - touched) < FRESH;
    } catch {
      return false;
    }
  }
}
