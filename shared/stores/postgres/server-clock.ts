import type { Clock } from '#shared/base/clock.ts';
import type { Database } from '../sql/sql.ts';

/**
 * The clock of the server, so that a row lives equally long for all processes. Between two looks it follows our
 * monotonic clock, which no program can set.
 */
export class ServerClock implements Clock {
  readonly #own: Clock;
  readonly #ask: () => Promise<number>;
  /** The time of the server in milliseconds, and `monotonic` at that moment. */
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

/** Resolves to the server's time in milliseconds since 1970. */
export const timeOf = (database: Database): Promise<number> =>
  database.read(async (sql) => {
    const [[now] = [0]] = await sql.all<[number]>(
      'SELECT CAST(1000 * extract(epoch FROM clock_timestamp()) AS double precision)',
    );
    return now;
  });
