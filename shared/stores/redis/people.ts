import type { DigestHash } from '#shared/http/auth/digest-algorithms.ts';
import type { DigestRow, People, PersonRecord } from '#shared/stores/people.ts';
import { SLICE, slices } from '#shared/stores/slices.ts';
import { script } from './connection.ts';
import type { Connection } from './connection.ts';

/**
 * KEYS: people, names, the order of names, aliases, userhashes, the person's rows of Digest. ARGV: id, name,
 * record, the record that it replaces or nothing, whether the rows are replaced, how many aliases, those, and of
 * each row its field and its value. 0: it is not there any more, or a name, an alias or a userhash is taken.
 */
const put = script(`
local id, name, record, was, rows = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == 'true'
local first = 7 + ARGV[6]

local function userhash(field, value)
  local hash, realm = field:match('^(%S+) (.*)$')
  return hash .. ' ' .. value:match('%S+$') .. ' ' .. realm
end
local function another(key, field)
  local owner = redis.call('HGET', key, field)
  return owner and owner ~= id
end

if (redis.call('HGET', KEYS[1], id) or '') ~= was or another(KEYS[2], name) then return 0 end
for n = 7, first - 1 do
  if another(KEYS[4], ARGV[n]) then return 0 end
end
for n = first, #ARGV, 2 do
  if another(KEYS[5], userhash(ARGV[n], ARGV[n + 1])) then return 0 end
end

redis.call('HSET', KEYS[1], id, record)
redis.call('HSET', KEYS[2], name, id)
redis.call('ZADD', KEYS[3], 0, name)
for _, alias in ipairs(was ~= '' and cjson.decode(was).aliases or {}) do
  redis.call('HDEL', KEYS[4], alias)
end
for n = 7, first - 1 do redis.call('HSET', KEYS[4], ARGV[n], id) end
if not rows then return 1 end
local former = redis.call('HGETALL', KEYS[6])
for n = 1, #former, 2 do redis.call('HDEL', KEYS[5], userhash(former[n], former[n + 1])) end
redis.call('DEL', KEYS[6])
for n = first, #ARGV, 2 do
  redis.call('HSET', KEYS[6], ARGV[n], ARGV[n + 1])
  redis.call('HSET', KEYS[5], userhash(ARGV[n], ARGV[n + 1]), id)
end
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
 * KEYS: names or userhashes, people, what the rows of all begin with. ARGV: name or userhash, field of the
 * row. As much work for who is not there.
 */
const findDigest = script(`
local id = redis.call('HGET', KEYS[1], ARGV[1]) or ''
local person = redis.call('HGET', KEYS[2], id)
local row = redis.call('HGET', KEYS[3] .. id, ARGV[2])
return person and row and { person, row:match('^%S+') }
`);

/** KEYS: a person's rows of Digest, people. ARGV: id. */
const findWhole = script(`
local person = redis.call('HGET', KEYS[2], ARGV[1])
return person and { person, redis.call('HGETALL', KEYS[1]) }
`);

/** KEYS: the order of names, names, people. ARGV: where the slice begins. */
const slice = script(`
local names = redis.call('ZRANGE', KEYS[1], ARGV[1], '+', 'BYLEX', 'LIMIT', 0, ${SLICE})
if #names == 0 then return {} end
return redis.call('HMGET', KEYS[3], unpack(redis.call('HMGET', KEYS[2], unpack(names))))
`);

const fieldOf = (hash: DigestHash, realm: string) => `${hash} ${realm}`;

function rowOf(field: string, value: string): DigestRow {
  const [hash = '', realm = ''] = halves(field);
  const [ha1 = '', userhash = ''] = halves(value);
  return { realm, hash: hash as DigestHash, ha1, userhash };
}

const halves = (text: string) => [
  text.slice(0, text.indexOf(' ')),
  text.slice(text.indexOf(' ') + 1),
];

/**
 * The hashes `{prefix}:people`, id to JSON, `{prefix}:names`, `{prefix}:aliases` and `{prefix}:userhashes`, each
 * to id; the sorted set `{prefix}:names:order`; and for each person `{prefix}:digests:{id}`, hash and realm to
 * HA1 and userhash. One slot, so that one script writes all; that of the revocations, so that a change is as
 * durable as they are: who was disabled stays disabled when a replica takes over.
 */
export function redisPeople(redis: Connection, prefix: string): People {
  const people = `{${prefix}}:people`;
  const names = `{${prefix}}:names`;
  const order = `{${prefix}}:names:order`;
  const byAlias = `{${prefix}}:aliases`;
  const userhashes = `{${prefix}}:userhashes`;
  const digestsOf = (id: string) => `{${prefix}}:digests:${id}`;
  const parsed = (person: string): PersonRecord => JSON.parse(person);
  const find = (id: string) => redis.command<string | null>('HGET', people, id);

  async function get(id: string): Promise<PersonRecord | undefined> {
    const person = await find(id);
    return person === null ? undefined : parsed(person);
  }

  async function write(
    person: PersonRecord,
    was: string,
    digests: readonly DigestRow[] | undefined,
  ): Promise<boolean> {
    const { id, name, aliases = [] } = person;
    const rows = digests ?? [];
    const done = await redis.durable<number>(
      put,
      [people, names, order, byAlias, userhashes, digestsOf(id)],
      id,
      name,
      JSON.stringify(person),
      was,
      String(digests !== undefined),
      String(aliases.length),
      ...aliases,
      ...rows.flatMap((row) => [fieldOf(row.hash, row.realm), `${row.ha1} ${row.userhash}`]),
    );
    return done === 1;
  }

  return {
    add: (person, digests = []) => write(person, '', digests),
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
    async getDigest(realm, hash, who) {
      const [index, key] =
        'name' in who ? [names, who.name] : [userhashes, `${hash} ${who.userhash} ${realm}`];
      const found = await redis.script<[string, string] | null>(
        findDigest,
        [index, people, digestsOf('')],
        key,
        fieldOf(hash, realm),
      );
      return found === null ? undefined : { person: parsed(found[0]), ha1: found[1] };
    },
    async getWhole(id) {
      const found = await redis.script<[string, string[]] | null>(
        findWhole,
        [digestsOf(id), people],
        id,
      );
      if (found === null) return undefined;
      const [person, kept] = found;
      const digests = kept.flatMap((field, n) =>
        n % 2 === 0 ? [rowOf(field, kept[n + 1] ?? '')] : [],
      );
      return { person: parsed(person), digests };
    },
    list: () =>
      slices<PersonRecord>(async (last) => {
        const keys = [order, names, people] as const;
        const found = await redis.script<string[]>(slice, keys, last ? `(${last.name}` : '-');
        return found.map(parsed);
      }),
    async replace(person, digests) {
      const was = await find(person.id);
      if (was === null) return false;
      const { name, version } = parsed(was);
      if (version !== person.version - 1) return false;
      return write({ ...person, name }, was, digests);
    },
  };
}
