import type { People, PersonRecord } from '#shared/stores/people.ts';
import { script } from './connection.ts';
import type { Connection } from './connection.ts';

/** KEYS: people, names, aliases. ARGV: id, name, record, aliases. */
const add = script(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 or redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then
  return 0
end
for n = 4, #ARGV do
  if redis.call('HEXISTS', KEYS[3], ARGV[n]) == 1 then return 0 end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[1])
for n = 4, #ARGV do redis.call('HSET', KEYS[3], ARGV[n], ARGV[1]) end
return 1
`);

/**
 * KEYS: people, aliases. ARGV: id, record, the record that it replaces, how many aliases the record has,
 * those, and those of the record that it replaces.
 */
const replace = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then return 0 end
local last = 4 + ARGV[4]
for n = 5, last do
  local owner = redis.call('HGET', KEYS[2], ARGV[n])
  if owner and owner ~= ARGV[1] then return 0 end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
for n = last + 1, #ARGV do redis.call('HDEL', KEYS[2], ARGV[n]) end
for n = 5, last do redis.call('HSET', KEYS[2], ARGV[n], ARGV[1]) end
return 1
`);

/**
 * KEYS: aliases, people. ARGV: alias. One look at both, so that an alias that goes from one person to
 * another finds one of them. As much work for an alias that nobody has.
 */
const findByAlias = script(`
local id = redis.call('HGET', KEYS[1], ARGV[1])
return redis.call('HGET', KEYS[2], id or '')
`);

/**
 * The hashes `{prefix}:people`, id to JSON, `{prefix}:names` and `{prefix}:aliases`, each to id. One slot,
 * so that one script writes all; that of the revocations, so that a change is as durable as they are: who was
 * disabled stays disabled when a replica takes over.
 */
export function redisPeople(redis: Connection, prefix: string): People {
  const people = `{${prefix}}:people`;
  const names = `{${prefix}}:names`;
  const byAlias = `{${prefix}}:aliases`;
  const parsed = (person: string): PersonRecord => JSON.parse(person);
  const find = (id: string) => redis.command<string | null>('HGET', people, id);

  async function get(id: string): Promise<PersonRecord | undefined> {
    const person = await find(id);
    return person === null ? undefined : parsed(person);
  }

  return {
    async add(person) {
      const { id, name, aliases = [] } = person;
      const keys = [people, names, byAlias] as const;
      const record = JSON.stringify(person);
      return (await redis.durable<number>(add, keys, id, name, record, ...aliases)) === 1;
    },
    get,
    async getByName(name) {
      const id = await redis.command<string | null>('HGET', names, name);
      // As much work for a name that nobody has: the time does not tell.
      return get(id ?? '');
    },
    async getByAlias(alias) {
      const person = await redis.script<string | null>(findByAlias, [byAlias, people], alias);
      return person === null ? undefined : parsed(person);
    },
    async list() {
      return (await redis.command<string[]>('HVALS', people)).map(parsed);
    },
    async replace(person) {
      const was = await find(person.id);
      if (was === null) return false;
      const { name, version, aliases: former = [] } = parsed(was);
      if (version !== person.version - 1) return false;
      const record = JSON.stringify({ ...person, name });
      const { id, aliases = [] } = person;
      const done = await redis.durable<number>(
        replace,
        [people, byAlias],
        id,
        record,
        was,
        String(aliases.length),
        ...aliases,
        ...former,
      );
      return done === 1;
    },
  };
}
