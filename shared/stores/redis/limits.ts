import type { Limits, Rate } from '#shared/stores/limits.ts';
import { script } from './connection.ts';
import type { Connection, Script } from './connection.ts';
import { digestOf } from './digest.ts';

/**
 * Generic cell rate algorithm: the key holds the theoretical arrival time in microseconds of the
 * server's clock, at which the bucket is full again; never later than that of an empty bucket, whatever
 * is kept: clocks are set back, rates change. ARGV: burst, microseconds for one.
 */
const look = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local burst, per = tonumber(ARGV[1]), tonumber(ARGV[2])
local kept = tonumber(redis.call('GET', KEYS[1]) or 0)
local arrival = math.min(math.max(kept, now), now + burst * per)
local function keep()
  redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'PX', math.ceil((arrival - now) / 1000))
end
`;

/** Replies with 1 and how many microseconds it takes until it is full, or with 0 and how many the caller is too early. */
const spend = script(`${look}
local early = arrival - (burst - 1) * per - now
if early > 0 then
  if arrival < kept then keep() end
  return { 0, early }
end
arrival = arrival + per
keep()
return { 1, arrival - now }
`);

const giveBack = script(`${look}
arrival = arrival - per
if arrival > now then keep() else redis.call('DEL', KEYS[1]) end
`);

/**
 * `{prefix}:limit:{namespace}:{SHA-256 of the key}`: gone when the bucket is full. Waits for no replica: a
 * failover gives back what was spent in its last moments, and no more.
 */
export function redisLimits(redis: Connection, prefix: string): Limits {
  const name = (namespace: string, key: string) => `${prefix}:limit:${namespace}:${digestOf(key)}`;
  // Whole microseconds, so that no rounding takes one from the burst.
  const intervalOf = ({ per }: Rate) => Math.ceil(per * 1_000_000);
  const ask = <R>(code: Script, namespace: string, key: string, rate: Rate) =>
    redis.script<R>(code, [name(namespace, key)], String(rate.burst), String(intervalOf(rate)));

  return {
    async spend(namespace, key, rate) {
      const [spent, left] = await ask<[0 | 1, number]>(spend, namespace, key, rate);
      const seconds = Math.ceil(left / 1_000_000);
      return spent === 1
        ? { ok: true, remaining: Math.floor(rate.burst - left / intervalOf(rate)), reset: seconds }
        : { ok: false, retryAfter: seconds };
    },
    async giveBack(namespace, key, rate) {
      await ask(giveBack, namespace, key, rate);
    },
  };
}
