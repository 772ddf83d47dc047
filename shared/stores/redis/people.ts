import type { People, PersonRecord } from '#shared/stores/people.ts';
import { script } from './connection.ts';
import type { Connection } from './connection.ts';

/** KEYS: people, names. ARGV: id, name, record. */
const add = script(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 or redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[1])
return 1
`);

/** KEYS: people. ARGV: id, record, the record that it replaces. */
const replace = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
`);

/**
 * The hashes `{prefix}:people`, id to JSON, and `{prefix}:names`, name to id. One slot, so that one
 * script writes both; that of the revocations, so that a change is as durable as they are: who was
 * disabled stays disabled when a replica takes over.
 */
export function redisPeople(redis: Connection, prefix: string): People {
  const people = `{${prefix}}:people`;
  const names = `{${prefix}}:names`;
  const parsed = (person: string): PersonRecord => JSON.parse(person);
  const find = (id: string) => redis.command<string | null>('HGET', people, id);

  async function get(id: string): Promise<PersonRecord | undefined> {
    const person = await find(id);
    return person === null ? undefined : parsed(person);
  }

  return {
    async add(person) {
      const { id, name } = person;
      const record = JSON.stringify(person);
      return (await redis.durable<number>(add, [people, names], id, name, record)) === 1;
    },
    get,
    async getByName(name) {
      const id = await redis.command<string | null>('HGET', names, name);
      // As much work for a name that nobody has: the time does not tell.
      return get(id ?? '');
    },
    async list() {
      return (await redis.command<string[]>('HVALS', people)).map(parsed);
    },
    async replace(person) {
      const was = await find(person.id);
      if (was === null) return false;
      const { name, version } = parsed(was);
      if (version !== person.version - 1) return false;
      const record = JSON.stringify({ ...person, name });
      return (await redis.durable<number>(replace, [people], person.id, record, was)) === 1;
    },
  };
}
