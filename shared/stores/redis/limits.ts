import type { Limits } from '#shared/stores/limits.ts';
import { script } from './connection.ts';
import type { Connection } from './connection.ts';
import { digest } from './digest.ts';

/**
 * Generic cell rate algorithm: the key holds the theoretical arrival time in microseconds of the
 * server's clock, at which the bucket is full again. Replies with 0, or with how many microseconds
 * too early the caller is.
 */
const spend = script(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local burst, per = tonumber(ARGV[1]), tonumber(ARGV[2])
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local early = arrival - (burst - 1) * per - now
if early > 0 then return math.ceil(early) end
arrival = arrival + per
redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'PX', math.ceil((arrival - now) / 1000))
return 0
`);

/** `{prefix}:limit:{namespace}:{SHA-256 of the key}`: gone when the bucket is full. */
export function redisLimits(redis: Connection, prefix: string): Limits {
  return {
    async spend(namespace, key, { burst, per }) {
      const name = `${prefix}:limit:${namespace}:${digest(key)}`;
      const early = await redis.script<number>(
        spend,
        [name],
        String(burst),
        String(per * 1_000_000),
      );
      return early === 0 ? { ok: true } : { ok: false, retryAfter: Math.ceil(early / 1_000_000) };
    },
  };
}
