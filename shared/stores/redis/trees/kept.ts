import { randomId, type Random } from '#shared/base/random.ts';
import type { Kept } from '#shared/stores/trees/kept.ts';
import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';
import { milliseconds } from '../connection/milliseconds.ts';

/**
 * KEYS: the ids of the owner's values (list, newest first), of which each names the key of a value.
 * ARGV: id, value, milliseconds, how many stay.
 */
const put = script(`
local function key(id) return KEYS[1] .. ':' .. id end
redis.call('SET', key(ARGV[1]), ARGV[2], 'PX', ARGV[3])
redis.call('LPUSH', KEYS[1], ARGV[1])
local staying, longest = {}, 0
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local left = redis.call('PTTL', key(id))
  if #staying >= tonumber(ARGV[4]) then
    redis.call('DEL', key(id))
  elseif left > 0 then
    staying[#staying + 1] = id
    longest = math.max(longest, left)
  end
end
redis.call('DEL', KEYS[1])
for _, id in ipairs(staying) do redis.call('RPUSH', KEYS[1], id) end
if longest > 0 then redis.call('PEXPIRE', KEYS[1], longest) end
`);

/** `{prefix:kept:SHA-256 of the owner}` and, with `:{id}` after it, the values: one slot for each owner. */
export function redisKept(redis: Connection, prefix: string, random: Random): Kept {
  const ids = (owner: string) => `{${prefix}:kept:${digestOf(owner)}}`;
  return {
    async put(owner, value, { seconds, most }) {
      const id = randomId(random);
      await redis.durable(put, [ids(owner)], id, value, milliseconds(seconds), String(most));
      return id;
    },
    async get(owner, id) {
      return (await redis.command<string | null>('GET', `${ids(owner)}:${id}`)) ?? undefined;
    },
  };
}
