import { type Buckets, intervalOf } from '#shared/stores/limits/buckets.ts';
import type { Rate } from '#shared/stores/limits/limits.ts';
import { type Connection, script, type Script } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';

/** The key has the time when the bucket will be full, in microseconds of the server's clock. ARGV: burst, interval. */
const look = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval = tonumber(ARGV[2])
local empty = now + ARGV[1] * interval
local kept = tonumber(redis.call('GET', KEYS[1]) or 0)
local function within(time)
  return math.min(math.max(time, now), empty)
end
local function keep(time)
  redis.call('SET', KEYS[1], string.format('%.0f', time), 'PX', math.ceil((time - now) / 1000))
end
`;

/** ARGV: the wanted number, the share, begin and end of the unused stretch. Replies with now, from and until. */
const take = script(`${look}
local before = kept
if kept == tonumber(ARGV[6]) then before = tonumber(ARGV[5]) end
local from = within(before)
local room = math.floor((empty - from) / interval)
local taken = math.min(room, math.max(tonumber(ARGV[3]), math.floor(room * ARGV[4])))
local till = from + taken * interval
if till ~= kept then keep(till) end
return { now, from, till }
`);

const giveBack = script(`${look}
local full = within(kept) - interval
if full > now then keep(full) else redis.call('DEL', KEYS[1]) end
`);

/** The key `{prefix}:limit:{namespace}:{SHA-256 of the key}` expires with the bucket. No write waits for replicas. */
export function redisBuckets(redis: Connection, prefix: string): Buckets {
  const name = (namespace: string, key: string) => `${prefix}:limit:${namespace}:${digestOf(key)}`;
  const ask = <R>(
    code: Script,
    [namespace, key, rate]: readonly [namespace: string, key: string, rate: Rate],
    ...args: readonly string[]
  ) =>
    redis.script<R>(
      code,
      [name(namespace, key)],
      String(rate.burst),
      String(intervalOf(rate)),
      ...args,
    );

  return {
    async take(namespace, key, rate, { wanted, share, unused }) {
      const asked = [wanted, share, unused?.from ?? '', unused?.until ?? ''].map(String);
      const bucket = [namespace, key, rate] as const;
      const [now, from, until] = await ask<[number, number, number]>(take, bucket, ...asked);
      return { now, from, until };
    },
    async giveBack(namespace, key, rate) {
      await ask(giveBack, [namespace, key, rate]);
    },
  };
}
