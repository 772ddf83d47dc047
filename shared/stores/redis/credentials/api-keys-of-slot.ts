import { ended } from '#shared/stores/credentials/api-key-changes.ts';
import type {
  ApiKeyPlace,
  ApiKeyRange,
  ApiKeyRecord,
  ApiKeys,
} from '#shared/stores/credentials/api-keys.ts';
import { used } from '#shared/stores/credentials/last-use.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { scanValues } from '../connection/scan.ts';

/** Digits that any number of milliseconds has room in. */
const DIGITS = 16;

/** KEYS: keys, their order. ARGV: id, record, its place. 0: the id is taken. */
const add = script(`
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[2], 0, ARGV[3])
return 1
`);

/** KEYS: keys, their order. ARGV: id, record, the record that it replaces, and its place now and before if it moves. */
const replace = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if ARGV[4] then
  redis.call('ZREM', KEYS[2], ARGV[5])
  redis.call('ZADD', KEYS[2], 0, ARGV[4])
end
return 1
`);

/**
 * KEYS: keys, their order. ARGV: id. The end of a key moves it nowhere, so that its record tells its place. That may have any
 * character: `format` would end it at the first NUL.
 */
const remove = script(`
local record = redis.call('HGET', KEYS[1], ARGV[1])
if not record then return 0 end
local key = cjson.decode(record)
local place = key.application .. '\\0' .. string.format('%0${DIGITS}d', key.created_at) .. '\\0' .. ARGV[1]
redis.call('ZREM', KEYS[2], place)
return redis.call('HDEL', KEYS[1], ARGV[1])
`);

/** KEYS: keys, their order. ARGV: behind which place, and how many. */
const page = script(`
local ids = redis.call('ZRANGE', KEYS[2], ARGV[1], '+', 'BYLEX', 'LIMIT', 0, ARGV[2])
if #ids == 0 then return {} end
for n, place in ipairs(ids) do ids[n] = string.match(place, '%z${'%d'.repeat(DIGITS)}%z(.*)') end
return redis.call('HMGET', KEYS[1], unpack(ids))
`);

/** Where it stands among all, as text: no name of an application has NUL. */
const placeOf = ({ application, created_at, id }: ApiKeyPlace) =>
  `${application}\0${String(created_at).padStart(DIGITS, '0')}\0${id}`;

/** Some of all API keys, whose rows are in one slot. */
export interface ApiKeysOfSlot extends Omit<ApiKeys, 'list'> {
  /** Every key once, in no order. */
  all(): Promise<readonly ApiKeyRecord[]>;
}

/** The hash of keys, id to JSON, and the sorted set of their places. */
const apiKeyKeys = (slot: string) => [`${slot}:api-keys`, `${slot}:api-keys:order`] as const;

/** The time of the last use is less durable than the rest: a note that is lost does no harm. */
export function apiKeysOfSlot(redis: Commands, slot: string): ApiKeysOfSlot {
  const [name, order] = apiKeyKeys(slot);
  const parsed = (key: string): ApiKeyRecord => JSON.parse(key);
  const find = (id: string) => redis.command<string | null>('HGET', name, id);

  /**
   * False when there is no such key; looks again when it was changed in between. `edit` returns the
   * same object when nothing is to be written.
   */
  async function change(
    id: string,
    verb: 'durable' | 'script',
    edit: (key: ApiKeyRecord) => ApiKeyRecord,
  ): Promise<boolean> {
    for (;;) {
      const was = await find(id);
      if (was === null) return false;
      const key = parsed(was);
      const changed = edit(key);
      if (changed === key) {
        if (verb === 'durable') await redis.settled(name);
        return true;
      }
      const record = JSON.stringify(changed);
      if ((await redis[verb]<number>(replace, [name], id, record, was)) === 1) return true;
    }
  }

  return {
    async add(key) {
      const record = JSON.stringify(key);
      const added = await redis.durable<number>(add, [name, order], key.id, record, placeOf(key));
      return added === 1;
    },
    async get(id) {
      const key = await find(id);
      return key === null ? undefined : parsed(key);
    },
    async page({ limit, after }: ApiKeyRange) {
      const from = after ? `(${placeOf(after)}` : '-';
      return (await redis.script<string[]>(page, [name, order], from, String(limit))).map(parsed);
    },
    all: async () => (await scanValues(redis, name)).map(parsed),
    async replace(key, was) {
      const records = [JSON.stringify(key), JSON.stringify(was)];
      const places = [placeOf(key), placeOf(was)];
      const keys = [name, order] as const;
      return (await redis.durable<number>(replace, keys, key.id, ...records, ...places)) === 1;
    },
    expire: (id, at) => change(id, 'durable', (key) => ended(key, at)),
    touch: async (id, at) => void (await change(id, 'script', (key) => used(key, at))),
    async remove(id) {
      return (await redis.durable<number>(remove, [name, order], id)) === 1;
    },
  };
}
