import type { Keys, StoredKey } from '#shared/stores/keys/keys.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';

const add = script(`
if ARGV[3] ~= '' then
  for _, key in ipairs(redis.call('HVALS', KEYS[1])) do
    if cjson.decode(key).alg == ARGV[3] then return 0 end
  end
end
return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
`);

/** The hash `{prefix}:keys` or `{prefix}:gateway-keys`: kid to JSON. */
export function redisKeys(redis: Commands, prefix: string, hash: 'keys' | 'gateway-keys'): Keys {
  const name = `${prefix}:${hash}`;
  return {
    async list() {
      const keys = await redis.command<string[]>('HVALS', name);
      return keys.map((key): StoredKey => JSON.parse(key));
    },
    async add(key, unlessOneOf) {
      const args = [key.kid, JSON.stringify(key), unlessOneOf ?? ''];
      return (await redis.durable<number>(add, [name], ...args)) === 1;
    },
    async remove(kid) {
      await redis.durableCommand('HDEL', name, kid);
    },
  };
}
