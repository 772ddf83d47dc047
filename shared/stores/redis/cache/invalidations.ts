import {
  checkLengths,
  INVALIDATION_LIFE,
  type Invalidations,
  type KeptInvalidation,
  MOST_INVALIDATION_OCTETS,
  MOST_INVALIDATIONS,
} from '../../cache/invalidations.ts';
import { type Hosts, RedisInvalidationFeed } from './invalidation-feed.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import {
  INVALIDATIONS_START,
  invalidationFields,
  invalidationStream,
  readInvalidation,
} from './invalidation-stream.ts';
import { type Entries, revocationKeys } from '../revocation/revocation-stream.ts';

/**
 * KEYS: stream. ARGV: how many are kept, and of how many octets; space, kind, value and soft of each. `written`: octets
 * of the values up to that one.
 */
const add = script(`
local function written(entry)
  local fields = entry and entry[2] or {}
  for n = 1, #fields, 2 do
    if fields[n] == 'written' then return tonumber(fields[n + 1]) end
  end
  return 0
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('XADD', KEYS[1], '${INVALIDATIONS_START}', 'kind', 'start')
end
local total = written(redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1])
for n = 3, #ARGV, 4 do
  total = total + #ARGV[n + 2]
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'space', ARGV[n], 'kind', ARGV[n + 1],
    'value', ARGV[n + 2], 'soft', ARGV[n + 3], 'written', string.format('%.0f', total))
end
local function oldest() return redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1] end
local first = oldest()
while first and written(first) <= total - ARGV[2] do
  redis.call('XDEL', KEYS[1], first[1])
  first = oldest()
end
`);

/** Entries that are asked for at a time. */
const PAGE = 1_000;

/**
 * KEYS: stream. ARGV: milliseconds kept, how many stay. Those stay so that whoever has heard the last one, and was away
 * for a moment, finds where he stood, however long ago that was added.
 */
const trim = script(`
local time = redis.call('TIME')
local oldest = time[1] * 1000 - ARGV[1]
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', ARGV[2])
if #last == 0 then return 0 end
local stays = last[#last][1]
if oldest < tonumber(string.match(stays, '^%d+')) then stays = string.format('%.0f', oldest) end
return redis.call('XTRIM', KEYS[1], 'MINID', '=', stays)
`);

/** However old they are. */
const STAY = 100;

export interface RedisInvalidations extends Invalidations {
  /** Drops those that are older than a day; resolves to their number. */
  sweep(): Promise<number>;
}

export function redisInvalidations(
  redis: Commands,
  prefix: string,
  hosts: Hosts,
): RedisInvalidations {
  const stream = invalidationStream(prefix);
  return {
    async add(invalidations) {
      checkLengths(invalidations);
      if (invalidations.length === 0) return;
      const args = invalidations.flatMap(invalidationFields);
      const most = [String(MOST_INVALIDATIONS), String(MOST_INVALIDATION_OCTETS)];
      await redis.durable(add, [stream], ...most, ...args);
    },

    async list(kind, most) {
      const epoch = await redis.command<string | null>('GET', revocationKeys(prefix).epoch);
      const found: KeptInvalidation[] = [];
      let entries: Entries;
      let end = '+';
      do {
        const range = [end, '-', 'COUNT', String(PAGE)];
        entries = await redis.command<Entries>('XREVRANGE', stream, ...range);
        for (const [id, fields] of entries) {
          const invalidation = readInvalidation(epoch ?? '', id, fields);
          if (invalidation?.kind === kind) found.push(invalidation);
          end = `(${id}`;
        }
      } while (entries.length === PAGE && found.length < most);
      return found.slice(0, most);
    },

    feed: (listener, from) => RedisInvalidationFeed.open(stream, hosts, listener, from),

    sweep: () => redis.script<number>(trim, [stream], String(INVALIDATION_LIFE), String(STAY)),
  };
}
