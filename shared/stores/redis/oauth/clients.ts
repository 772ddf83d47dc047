import type { ClientRecord, Clients } from '#shared/stores/oauth/clients.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { scanValues } from '../connection/scan.ts';

/** KEYS: clients. ARGV: id, record, the record that it replaces, or nothing for whatever there is. */
const replace = script(`
local is = redis.call('HGET', KEYS[1], ARGV[1])
if not is or (ARGV[3] ~= '' and is ~= ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
`);

/** The hash `{prefix}:clients`: client_id to JSON. */
export function redisClients(redis: Commands, prefix: string): Clients {
  const name = `${prefix}:clients`;
  const parsed = (client: string): ClientRecord => JSON.parse(client);
  return {
    async add(client) {
      const { client_id } = client;
      return (
        (await redis.durableCommand<number>('HSETNX', name, client_id, JSON.stringify(client))) ===
        1
      );
    },
    async get(clientId) {
      const client = await redis.command<string | null>('HGET', name, clientId);
      return client === null ? undefined : parsed(client);
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
    async remove(clientId) {
      return (await redis.durableCommand<number>('HDEL', name, clientId)) === 1;
    },
  };
}
