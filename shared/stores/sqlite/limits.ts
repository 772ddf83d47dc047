import type { Clock } from '#shared/base/clock.ts';
import type { Limits, Rate } from '../limits.ts';
import type { Connection } from './connection.ts';
import { digestOf } from './digest.ts';
import type { SqliteFile } from './file.ts';

/**
 * The generic cell rate algorithm: of a bucket only the time is kept when it will be full again.
 * Whole microseconds, so that no rounding takes one from the burst.
 */
export function sqliteLimits(file: SqliteFile, clock: Clock): Limits {
  /** `fullAt`: never later than that of an empty bucket, whatever is kept: clocks are set back, rates change. */
  const look = (connection: Connection, key: Uint8Array, { burst, per }: Rate) => {
    const now = Math.floor(clock.now() * 1000);
    const interval = Math.ceil(per * 1_000_000);
    const [row] = connection.all<{ full_at: number }>(
      'SELECT full_at FROM bucket WHERE key = ?',
      key,
    );
    const kept = row?.full_at ?? now;
    return { now, interval, kept, fullAt: Math.min(Math.max(kept, now), now + burst * interval) };
  };

  const keep = (connection: Connection, key: Uint8Array, fullAt: number) =>
    connection.run(
      `INSERT INTO bucket (key, full_at) VALUES (?, ?)
       ON CONFLICT (key) DO UPDATE SET full_at = excluded.full_at`,
      key,
      fullAt,
    );

  return {
    spend: (namespace, name, rate) =>
      file.write((connection) => {
        const key = digestOf(namespace, name);
        const { now, interval, kept, fullAt } = look(connection, key, rate);
        const wait = fullAt - now - (rate.burst - 1) * interval;
        if (wait > 0) {
          if (fullAt < kept) keep(connection, key, fullAt);
          return { ok: false, retryAfter: Math.ceil(wait / 1_000_000) };
        }
        keep(connection, key, fullAt + interval);
        const left = fullAt + interval - now;
        return {
          ok: true,
          remaining: Math.floor(rate.burst - left / interval),
          reset: Math.ceil(left / 1_000_000),
        };
      }),
    giveBack: (namespace, name, rate) =>
      file.write((connection) => {
        const key = digestOf(namespace, name);
        const { interval, fullAt } = look(connection, key, rate);
        keep(connection, key, fullAt - interval);
      }),
  };
}
