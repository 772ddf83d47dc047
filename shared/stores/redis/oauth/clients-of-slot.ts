import { keyIdsOf } from '#shared/stores/oauth/client-keys.ts';
import type { NameRange } from '#shared/base/name-range.ts';
import type { ClientRecord, Clients } from '#shared/stores/oauth/clients.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { lexRange } from '../connection/name-range.ts';
import { scanValues } from '../connection/scan.ts';

/** KEYS of all that write: clients, their order, their keys by client, their clients by key. */
const INDEX = `
local function index(id, keys)
  for key in string.gmatch(redis.call('HGET', KEYS[3], id) or '', '%S+') do
    redis.call('ZREM', KEYS[4], key .. ' ' .. id)
  end
  redis.call('HDEL', KEYS[3], id)
  if keys == '' then return end
  redis.call('HSET', KEYS[3], id, keys)
  for key in string.gmatch(keys, '%S+') do redis.call('ZADD', KEYS[4], 0, key .. ' ' .. id) end
end
`;

/** ARGV: id, record, fingerprints, the record that it replaces, or nothing for whatever there is. */
const replace = script(`${INDEX}
local is = redis.call('HGET', KEYS[1], ARGV[1])
if not is or (ARGV[4] ~= '' and is ~= ARGV[4]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
index(ARGV[1], ARGV[3])
return 1
`);

/** ARGV: id, record, fingerprints. 0: the id is taken. */
const add = script(`${INDEX}
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[2], 0, ARGV[1])
index(ARGV[1], ARGV[3])
return 1
`);

/** ARGV: id, the record that it removes, or nothing for whatever there is. */
const remove = script(`${INDEX}
if ARGV[2] ~= '' and redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
index(ARGV[1], '')
return redis.call('HDEL', KEYS[1], ARGV[1])
`);

/** The names of the keys of some clients: a hash of their records by client_id, the sorted set of their ids, and the index of their keys, both ways. */
export type ClientKeys = readonly [clients: string, order: string, keys: string, byKey: string];

/** Some of all clients, whose rows are in one slot. */
export interface ClientsOfSlot extends Omit<Clients, 'page'> {
  /** The ids that are in the range, in its order. */
  ids(range: NameRange): Promise<readonly string[]>;
}

export function clientsOfSlot(redis: Commands, keys: ClientKeys): ClientsOfSlot {
  const [clients, order, , byKey] = keys;
  const parsed = (client: string): ClientRecord => JSON.parse(client);
  return {
    async add(client) {
      const { client_id } = client;
      const record = JSON.stringify(client);
      return (await redis.durable<number>(add, keys, client_id, record, keysIn(client))) === 1;
    },
    async get(clientId) {
      const client = await redis.command<string | null>('HGET', clients, clientId);
      return client === null ? undefined : parsed(client);
    },
    async ids(range) {
      const [from, to, limit] = lexRange(range);
      return redis.command<string[]>('ZRANGE', order, from, to, 'BYLEX', 'LIMIT', '0', limit);
    },
    async list() {
      return (await scanValues(redis, clients)).map(parsed);
    },
    async withKey(keyId) {
      // `!` comes after the space, which the ids are behind.
      const ends = [`[${keyId} `, `(${keyId}!`, 'BYLEX'];
      const places = await redis.command<string[]>('ZRANGE', byKey, ...ends);
      return places.map((place) => place.slice(keyId.length + 1));
    },
    async replace(client, was) {
      const { client_id } = client;
      const former = was === undefined ? '' : JSON.stringify(was);
      const record = JSON.stringify(client);
      const written = [client_id, record, keysIn(client), former] as const;
      return (await redis.durable<number>(replace, keys, ...written)) === 1;
    },
    async remove(clientId, was) {
      const former = was === undefined ? '' : JSON.stringify(was);
      return (await redis.durable<number>(remove, keys, clientId, former)) === 1;
    },
  };
}

const keysIn = (client: ClientRecord) => keyIdsOf(client).join(' ');
