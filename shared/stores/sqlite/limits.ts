import type { Clock } from '#shared/clock.ts';
import type { Limits } from '../limits.ts';
import { digest } from './digest.ts';
import type { SqliteFile } from './file.ts';

/**
 * The generic cell rate algorithm: of a bucket only the time is kept when it will be full again.
 * Whole microseconds, so that no rounding takes one from the burst.
 */
export function sqliteLimits(file: SqliteFile, clock: Clock): Limits {
  return {
    spend: (namespace, key, { burst, per }) =>
      file.write((connection) => {
        const bucket = digest(namespace, key);
        const now = Math.floor(clock.now() * 1000);
        const interval = Math.ceil(per * 1_000_000);
        const latest = now + (burst - 1) * interval;
        const [spent] = connection.all<{ full_at: number }>(
          `INSERT INTO bucket (key, full_at) VALUES (?1, ?2 + ?3)
           ON CONFLICT (key) DO UPDATE SET full_at = max(full_at, ?2) + ?3 WHERE full_at <= ?4
           RETURNING full_at`,
          bucket,
          now,
          interval,
          latest,
        );
        if (spent !== undefined) {
          const left = spent.full_at - now;
          return {
            ok: true,
            remaining: Math.floor(burst - left / interval),
            reset: Math.ceil(left / 1_000_000),
          };
        }
        const [row] = connection.all<{ full_at: number }>(
          'SELECT full_at FROM bucket WHERE key = ?',
          bucket,
        );
        const wait = (row?.full_at ?? now) - latest;
        return { ok: false, retryAfter: Math.max(1, Math.ceil(wait / 1_000_000)) };
      }),
  };
}
