import type { UseCounts } from '#shared/stores/authentication/use-counts.ts';
import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';
import { milliseconds } from '../connection/milliseconds.ts';

/**
 * KEYS: a hash of `highest` and `used`: 128 times 0 or 1, of which the first is for the highest count,
 * the next for the count before it and so on; a number of Lua has no 128 bits. ARGV: count, milliseconds.
 */
const use = script(`
local width = 128
local stored = redis.call('HMGET', KEYS[1], 'highest', 'used')
local highest = tonumber(stored[1] or 0)
local used = stored[2] or string.rep('0', width)
local back = highest - ARGV[1]
if back >= width then return 0 end
if back < 0 then
  used = string.sub(string.rep('0', math.min(-back, width)) .. used, 1, width)
  back = 0
  redis.call('HSET', KEYS[1], 'highest', ARGV[1])
elseif string.sub(used, back + 1, back + 1) == '1' then
  return 0
end
used = string.sub(used, 1, back) .. '1' .. string.sub(used, back + 2)
redis.call('HSET', KEYS[1], 'used', used)
if not stored[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
`);

/** `{prefix}:use-count:{namespace}:{SHA-256 of the key}` */
export function redisUseCounts(redis: Connection, prefix: string): UseCounts {
  return {
    async use(namespace, key, count, seconds) {
      if (!Number.isSafeInteger(count) || count < 1) return false;
      const name = `${prefix}:use-count:${namespace}:${digestOf(key)}`;
      const life = milliseconds(seconds);
      return (await redis.durable<number>(use, [name], String(count), life)) === 1;
    },
  };
}
