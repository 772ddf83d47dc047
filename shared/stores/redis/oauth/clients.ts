import type { ClientRecord, Clients } from '#shared/stores/oauth/clients.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { lexRange } from '../connection/name-range.ts';
import { scanValues } from '../connection/scan.ts';

/** KEYS: clients. ARGV: id, record, the record that it replaces, or nothing for whatever there is. */
const replace = script(`
local is = redis.call('HGET', KEYS[1], ARGV[1])
if not is or (ARGV[3] ~= '' and is ~= ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
`);

/** KEYS: clients, their order. ARGV: id, record. 0: the id is taken. */
const add = script(`
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return 1
`);

/** KEYS: clients, their order. ARGV: id, the record that it removes, or nothing for whatever there is. */
const remove = script(`
if ARGV[2] ~= '' and redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('HDEL', KEYS[1], ARGV[1])
`);

/**
 * KEYS: clients, their order. ARGV: where the ids begin and end, and how many. Servers of an older version write no
 * order: what does not fit is put in order first.
 */
const page = script(`
local function found()
  local ids = redis.call('ZRANGE', KEYS[2], ARGV[1], ARGV[2], 'BYLEX', 'LIMIT', 0, ARGV[3])
  return #ids == 0 and {} or redis.call('HMGET', KEYS[1], unpack(ids))
end
local function fits(records)
  for _, record in ipairs(records) do
    if not record then return false end
  end
  return redis.call('ZCARD', KEYS[2]) == redis.call('HLEN', KEYS[1])
end
local records = found()
if fits(records) then return records end
redis.call('DEL', KEYS[2])
for _, id in ipairs(redis.call('HKEYS', KEYS[1])) do redis.call('ZADD', KEYS[2], 0, id) end
return found()
`);

/** The hash `{prefix}:clients`: client_id to JSON; and the sorted set of their ids, in the same slot. */
export function redisClients(redis: Commands, prefix: string): Clients {
  const name = `${prefix}:clients`;
  const order = `{${name}}:order`;
  const parsed = (client: string): ClientRecord => JSON.parse(client);
  return {
    async add(client) {
      const { client_id } = client;
      const record = JSON.stringify(client);
      return (await redis.durable<number>(add, [name, order], client_id, record)) === 1;
    },
    async get(clientId) {
      const client = await redis.command<string | null>('HGET', name, clientId);
      return client === null ? undefined : parsed(client);
    },
    async page(range) {
      const found = await redis.script<string[]>(page, [name, order], ...lexRange(range));
      return found.map(parsed);
    },
    async list() {
      return (await scanValues(redis, name)).map(parsed);
    },
    async replace(client, was) {
      const { client_id } = client;
      const former = was === undefined ? '' : JSON.stringify(was);
      const record = JSON.stringify(client);
      return (await redis.durable<number>(replace, [name], client_id, record, former)) === 1;
    },
    async remove(clientId, was) {
      const former = was === undefined ? '' : JSON.stringify(was);
      return (await redis.durable<number>(remove, [name, order], clientId, former)) === 1;
    },
  };
}
