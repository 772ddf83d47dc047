import { byApplicationThenAge, ended } from '#shared/stores/credentials/api-key-changes.ts';
import type { ApiKeyRecord, ApiKeys } from '#shared/stores/credentials/api-keys.ts';
import { used } from '#shared/stores/credentials/last-use.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { scanValues } from '../connection/scan.ts';

const add = script(`
return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
`);

/** ARGV: id, record, the record that it replaces. */
const replace = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
`);

const remove = script(`
return redis.call('HDEL', KEYS[1], ARGV[1])
`);

/**
 * The hash `{prefix}:api-keys`: id to JSON, in the slot of the revocations, so that a change is as
 * durable as they are. The time of the last use is less durable: a note that is lost does no harm.
 */
export function redisApiKeys(redis: Commands, prefix: string): ApiKeys {
  const name = `{${prefix}}:api-keys`;
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
      return (await redis.durable<number>(add, [name], key.id, JSON.stringify(key))) === 1;
    },
    async get(id) {
      const key = await find(id);
      return key === null ? undefined : parsed(key);
    },
    async list() {
      return (await scanValues(redis, name)).map(parsed).toSorted(byApplicationThenAge);
    },
    expire: (id, at) => change(id, 'durable', (key) => ended(key, at)),
    touch: async (id, at) => void (await change(id, 'script', (key) => used(key, at))),
    async remove(id) {
      return (await redis.durable<number>(remove, [name], id)) === 1;
    },
  };
}
