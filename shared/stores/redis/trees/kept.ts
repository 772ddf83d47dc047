import { randomId, type Random } from '#shared/base/random.ts';
import type { Kept } from '#shared/stores/trees/kept.ts';
import { type Connection, script } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';
import { milliseconds } from '../connection/milliseconds.ts';

/**
 * KEYS: the list of the owner's ids, newest first, the key of the new value, and the keys of the other values, in the
 * order of the list. ARGV: milliseconds, how many values stay, the value, the new id, the other ids. 0: the list has
 * changed.
 */
const put = script(`
local ids = redis.call('LRANGE', KEYS[1], 0, -1)
if #ids ~= #ARGV - 4 then return 0 end
for n, id in ipairs(ids) do
  if id ~= ARGV[4 + n] then return 0 end
end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[1])
redis.call('LPUSH', KEYS[1], ARGV[4])
local staying, longest = {}, 0
for n = 2, #KEYS do
  local left = redis.call('PTTL', KEYS[n])
  if #staying >= tonumber(ARGV[2]) then
    redis.call('DEL', KEYS[n])
  elseif left > 0 then
    staying[#staying + 1] = ARGV[2 + n]
    longest = math.max(longest, left)
  end
end
redis.call('DEL', KEYS[1])
for _, id in ipairs(staying) do redis.call('RPUSH', KEYS[1], id) end
if longest > 0 then redis.call('PEXPIRE', KEYS[1], longest) end
return 1
`);

/** The keys are `{prefix:kept:SHA-256 of the owner}` and, for each value, the same with `:{id}`, in one slot. */
export function redisKept(redis: Connection, prefix: string, random: Random): Kept {
  const ids = (owner: string) => `{${prefix}:kept:${digestOf(owner)}}`;
  return {
    async put(owner, value, { seconds, most }) {
      const id = randomId(random);
      const list = ids(owner);
      for (;;) {
        const others = await redis.command<string[]>('LRANGE', list, '0', '-1');
        const all = [id, ...others];
        const keys = [list, ...all.map((each) => `${list}:${each}`)] as const;
        const args = [milliseconds(seconds), String(most), value, ...all];
        if ((await redis.durable<number>(put, keys, ...args)) === 1) return id;
      }
    },
    async get(owner, id) {
      return (await redis.command<string | null>('GET', `${ids(owner)}:${id}`)) ?? undefined;
    },
  };
}
