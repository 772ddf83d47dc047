import type { Clock } from '#shared/base/clock.ts';
import type { Database } from '../sql/sql.ts';

/**
 * The clock of the server, which all processes share, so that a row lives as long for each of them. Between two looks at it our
 * monotonic clock goes on, which nobody sets.
 */
export class ServerClock implements Clock {
  readonly #own: Clock;
  readonly #ask: () => Promise<number>;
  /** Milliseconds of the server, and of `monotonic` when it was so late there. */
  #at = 0;
  #since = 0;

  /** `ask`: resolves to the milliseconds of the server. */
  constructor(own: Clock, ask: () => Promise<number>) {
    this.#own = own;
    this.#ask = ask;
  }

  async look(): Promise<void> {
    const asked = this.#own.monotonic();
    this.#at = await this.#ask();
    this.#since = (asked + this.#own.monotonic()) / 2;
  }

  now(): number {
    return Math.floor(this.#at + this.#own.monotonic() - this.#since);
  }

  monotonic(): number {
    return this.#own.monotonic();
  }
}

/** Resolves to the milliseconds since 1970 of a server. */
export const timeOf = (database: Database): Promise<number> =>
  database.read(async (sql) => {
    const [[now] = [0]] = await sql.all<[number]>(
      'SELECT CAST(1000 * extract(epoch FROM clock_timestamp()) AS double precision)',
    );
    return now;
  });
