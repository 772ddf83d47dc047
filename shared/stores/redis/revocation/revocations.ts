import { rememberUntil } from '../../revocation/lifetime.ts';
import { randomId } from '#shared/base/random.ts';
import type { Random } from '#shared/base/random.ts';
import type { Revocations } from '#shared/stores/revocation/revocations.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import type { RedisFeed } from './revocation-feed.ts';
import { revocationKeys } from './revocation-stream.ts';

/** The oldest entry that may still bite: the server's time less ARGV[1] milliseconds. */
const oldest = `
local time = redis.call('TIME')
local oldest = string.format('%.0f', time[1] * 1000 - ARGV[1])
`;

/** KEYS: stream. ARGV: milliseconds kept, kind, id, until. */
const revoke = script(`${oldest}
return redis.call('XADD', KEYS[1], 'MINID', '~', oldest, '*',
  'kind', ARGV[2], 'id', ARGV[3], 'generation', 0, 'until', ARGV[4])
`);

/** Raises a generation within a script whose first argument is the milliseconds kept. Returns the new one. */
export const RAISE = `${oldest}
local function raise(stream, generations, kind, id, last)
  local generation = redis.call('HINCRBY', generations, kind .. ':' .. id, 1)
  redis.call('XADD', stream, 'MINID', '~', oldest, '*',
    'kind', kind, 'id', id, 'generation', generation, 'until', last)
  return generation
end
`;

/** KEYS: stream, generations. ARGV as above. */
const raise = script(`${RAISE}
return raise(KEYS[1], KEYS[2], ARGV[2], ARGV[3], ARGV[4])
`);

/** KEYS: stream, epoch. ARGV: milliseconds kept, new epoch. An entry wakes the feeds. */
const begin = script(`${oldest}
if redis.call('SET', KEYS[2], ARGV[2], 'NX') then
  redis.call('XADD', KEYS[1], 'MINID', '~', oldest, '*',
    'kind', 'epoch', 'id', ARGV[2], 'generation', 0, 'until', 0)
end
return redis.call('GET', KEYS[2])
`);

/** KEYS: stream. ARGV: milliseconds kept. */
const trim = script(`${oldest}
return redis.call('XTRIM', KEYS[1], 'MINID', '=', oldest)
`);

export interface RedisRevocations extends Revocations {
  /** Drops entries that can no longer bite; resolves to their number. */
  sweep(): Promise<number>;
}

/** `longestLife`: seconds that a token may live, the skew included. */
export function redisRevocations(
  redis: Commands,
  prefix: string,
  random: Random,
  longestLife: number,
  openFeed: () => RedisFeed,
): RedisRevocations {
  const { stream, generations, epoch } = revocationKeys(prefix);
  const kept = String(rememberUntil(0, longestLife));
  return {
    async revoke(kind, id, until) {
      await redis.durable(revoke, [stream], kept, kind, id, String(until));
    },

    raise: (kind, id, until) =>
      redis.durable<number>(raise, [stream, generations], kept, kind, id, String(until)),

    async generation(kind, id) {
      return Number(await redis.command<string | null>('HGET', generations, `${kind}:${id}`));
    },

    async epoch(create) {
      const found = await redis.command<string | null>('GET', epoch);
      if (found !== null) return found;
      return create
        ? redis.durable<string>(begin, [stream, epoch], kept, randomId(random))
        : undefined;
    },

    async feed() {
      const feed = openFeed();
      await feed.started;
      return feed;
    },

    sweep: () => redis.script<number>(trim, [stream], kept),
  };
}
