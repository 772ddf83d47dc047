import type { UseCounts } from '#shared/stores/authentication/use-counts.ts';
import { digestOf } from '../connection/digest.ts';
import { inMemory, type Memory } from './memory.ts';

/**
 * KEYS[2]: a hash of `highest` and `used`. `used` has 128 digits 0 or 1: the first for the highest count, the next for
 * the count below, and so on, since a number of Lua has no 128 bits. ARGV[4]: the count.
 */
const use = inMemory(`
local width = 128
local stored = redis.call('HMGET', KEYS[2], 'highest', 'used')
local highest = tonumber(stored[1] or 0)
local used = stored[2] or string.rep('0', width)
local back = highest - ARGV[4]
if back >= width then return 0 end
if back < 0 then
  used = string.sub(string.rep('0', math.min(-back, width)) .. used, 1, width)
  back = 0
  redis.call('HSET', KEYS[2], 'highest', ARGV[4])
elseif string.sub(used, back + 1, back + 1) == '1' then
  return 0
end
used = string.sub(used, 1, back) .. '1' .. string.sub(used, back + 2)
redis.call('HSET', KEYS[2], 'used', used)
if not stored[1] then redis.call('PEXPIRE', KEYS[2], ARGV[3]) end
return 1
`);

/** The key is `count:{namespace}:{SHA-256 of the key}`. */
export function redisUseCounts(memory: Memory): UseCounts {
  return {
    use: async (namespace, key, count, once) => {
      if (!Number.isSafeInteger(count) || count < 1) return 'used';
      return memory.use(use, `count:${namespace}:${digestOf(key)}`, once, String(count));
    },
  };
}
