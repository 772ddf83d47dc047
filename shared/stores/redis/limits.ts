import type { Limits } from '#shared/stores/limits.ts';
import { script } from './connection.ts';
import type { Connection } from './connection.ts';
import { digest } from './digest.ts';

/**
 * Generic cell rate algorithm: the key holds the theoretical arrival time in microseconds of the
 * server's clock, at which the bucket is full again. ARGV: burst, microseconds for one. Replies with 1
 * and how many microseconds it takes until then, or with 0 and how many the caller is too early.
 */
const spend = script(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local burst, per = tonumber(ARGV[1]), tonumber(ARGV[2])
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local early = arrival - (burst - 1) * per - now
if early > 0 then return { 0, early } end
arrival = arrival + per
redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'PX', math.ceil((arrival - now) / 1000))
return { 1, arrival - now }
`);

/** `{prefix}:limit:{namespace}:{SHA-256 of the key}`: gone when the bucket is full. */
export function redisLimits(redis: Connection, prefix: string): Limits {
  return {
    async spend(namespace, key, { burst, per }) {
      const name = `${prefix}:limit:${namespace}:${digest(key)}`;
      // Whole microseconds, so that no rounding takes one from the burst.
      const interval = Math.ceil(per * 1_000_000);
      const [spent, left] = await redis.script<[0 | 1, number]>(
        spend,
        [name],
        String(burst),
        String(interval),
      );
      const seconds = Math.ceil(left / 1_000_000);
      return spent === 1
        ? { ok: true, remaining: Math.floor(burst - left / interval), reset: seconds }
        : { ok: false, retryAfter: seconds };
    },
  };
}
