import type {
  FormerName,
  People,
  PeopleRange,
  PersonRecord,
  VerifierRow,
  WithPerson,
} from '#shared/stores/people/people.ts';
import { formerKeys } from '#shared/stores/people/former-keys.ts';
import { listText } from '#shared/stores/people/list-text.ts';
import { NOBODY, personFrom } from '#shared/stores/people/person-text.ts';
import { SLICE, slices } from '#shared/stores/people/slices.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';
import { lexRange } from '../connection/name-range.ts';
import { passkeyKeys, placeOf } from '../connection/passkey-places.ts';
import { fieldOf, keptOf, rowOf } from './verifier-fields.ts';

/** Takes the handles of a person's verifiers away, and them. KEYS: as of `put`. */
const WITHOUT_VERIFIERS = `
local function handle(field, kept)
  local own = cjson.decode(kept)[2]
  return own and field .. own
end
local function dropVerifiers()
  local former = redis.call('HGETALL', KEYS[6])
  for n = 1, #former, 2 do
    local own = handle(former[n], former[n + 1])
    if own then redis.call('HDEL', KEYS[5], own) end
  end
  redis.call('DEL', KEYS[6])
end
`;

/** Writes the search keys of a person, in place of those of the former record. KEYS: as of `put`. */
const SEARCH_KEYS = `
local function setSearchKeys(id, was, record)
  for _, key in ipairs(was ~= '' and cjson.decode(was).search_keys or {}) do
    redis.call('ZREM', KEYS[8], key .. '\\0' .. id)
  end
  for _, key in ipairs(record ~= '' and cjson.decode(record).search_keys or {}) do
    redis.call('ZADD', KEYS[8], 0, key .. '\\0' .. id)
  end
end
`;

const LISTS_OF = `
local function listsOf(record)
  if record == '' then return {} end
  local person = cjson.decode(record)
  local lists = { person.disabled == true and 'state:disabled' or 'state:active' }
  if person.admin == true then lists[#lists + 1] = 'state:admin' end
  for _, group in ipairs(person.profile and person.profile.groups or {}) do lists[#lists + 1] = 'group:' .. group end
  return lists
end
`;

/** Puts a person into the lists of their groups and states, and out of those of the former record. KEYS: as of `put`. */
const LISTS = `${LISTS_OF}
local function setLists(name, was, record)
  for _, list in ipairs(listsOf(was)) do redis.call('ZREM', KEYS[11], list .. '\\0' .. name) end
  for _, list in ipairs(listsOf(record)) do redis.call('ZADD', KEYS[11], 0, list .. '\\0' .. name) end
end
`;

/**
 * KEYS: people, names, the order of names, aliases, handles, the person's verifiers, former names, search keys, passkeys, their
 * places, lists. ARGV: id, name, record, the record that it replaces or nothing, whether the verifiers are replaced, the digest of the
 * name, whether it may be a former one, the first and the last place of the search key that nobody may have, or nothing twice,
 * the id, record and place of a passkey that comes with the person, or nothing thrice, how many aliases, the digest of that search
 * key or nothing, the aliases, and of each
 * verifier its field and what is kept in it.
 * 0: it is not there any more, or a name, an alias, a handle, that search key or that passkey is taken.
 */
const put = script(`
local id, name, record, was, rows = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == 'true'
local first = 15 + ARGV[13]
${WITHOUT_VERIFIERS}${SEARCH_KEYS}${LISTS}
local function another(key, field)
  local owner = redis.call('HGET', key, field)
  return owner and owner ~= id
end

if (redis.call('HGET', KEYS[1], id) or '') ~= was or another(KEYS[2], name) then return 0 end
if was == '' and ARGV[7] == 'refused' and redis.call('SISMEMBER', KEYS[7], ARGV[6]) == 1 then return 0 end
if redis.call('SISMEMBER', KEYS[7], ARGV[14]) == 1 then return 0 end
if ARGV[8] ~= '' and redis.call('ZLEXCOUNT', KEYS[8], ARGV[8], ARGV[9]) > 0 then return 0 end
if ARGV[10] ~= '' and redis.call('HEXISTS', KEYS[9], ARGV[10]) == 1 then return 0 end
for n = 15, first - 1 do
  if another(KEYS[4], ARGV[n]) then return 0 end
end
for n = first, #ARGV, 2 do
  local own = handle(ARGV[n], ARGV[n + 1])
  if own and another(KEYS[5], own) then return 0 end
end

if was == '' then redis.call('SREM', KEYS[7], ARGV[6]) end
redis.call('HSET', KEYS[1], id, record)
redis.call('HSET', KEYS[2], name, id)
redis.call('ZADD', KEYS[3], 0, name)
for _, alias in ipairs(was ~= '' and cjson.decode(was).aliases or {}) do
  redis.call('HDEL', KEYS[4], alias)
end
setSearchKeys(id, was, record)
setLists(name, was, record)
if ARGV[10] ~= '' then
  redis.call('HSET', KEYS[9], ARGV[10], ARGV[11])
  redis.call('ZADD', KEYS[10], 0, ARGV[12])
end
for n = 15, first - 1 do redis.call('HSET', KEYS[4], ARGV[n], id) end
if not rows then return 1 end
dropVerifiers()
for n = first, #ARGV, 2 do
  redis.call('HSET', KEYS[6], ARGV[n], ARGV[n + 1])
  local own = handle(ARGV[n], ARGV[n + 1])
  if own then redis.call('HSET', KEYS[5], own, id) end
end
return 1
`);

/** KEYS: as of `put`. ARGV: id, name, the record, the digests that stay. 0: it is not there any more. */
const remove = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then return 0 end
${WITHOUT_VERIFIERS}${SEARCH_KEYS}${LISTS}
dropVerifiers()
setSearchKeys(ARGV[1], ARGV[3], '')
setLists(ARGV[2], ARGV[3], '')
for _, alias in ipairs(cjson.decode(ARGV[3]).aliases or {}) do redis.call('HDEL', KEYS[4], alias) end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[2])
for n = 4, #ARGV do redis.call('SADD', KEYS[7], ARGV[n]) end
return 1
`);

/**
 * KEYS: names or aliases, people. ARGV: name or alias. One look at both, so that an alias that goes from one
 * person to another finds one of them. As much work, and an answer as long, for what nobody has: the time does not
 * tell.
 */
const findBy = script(`
local id = redis.call('HGET', KEYS[1], ARGV[1])
local person = redis.call('HGET', KEYS[2], id or '')
return { person or '${NOBODY}', person and 1 or 0 }
`);

/** KEYS: search keys, people. ARGV: what the members of a key begin with, and what comes after all of them. */
const searchBy = script(`
local members = redis.call('ZRANGE', KEYS[1], '[' .. ARGV[1], '(' .. ARGV[2], 'BYLEX', 'LIMIT', 0, ${SLICE})
local people = {}
for _, member in ipairs(members) do
  local person = redis.call('HGET', KEYS[2], string.sub(member, #ARGV[1] + 1))
  if person then people[#people + 1] = person end
end
return people
`);

/** In place of what is kept of a verifier. */
const NOTHING_KEPT = `["${'-'.repeat(64)}"]`;

/**
 * KEYS: names or handles, people, what the verifiers of all begin with. ARGV: name or handle, field of the
 * verifier. As much work, and an answer as long, for who is not there.
 */
const findVerifier = script(`
local id = redis.call('HGET', KEYS[1], ARGV[1]) or ''
local person = redis.call('HGET', KEYS[2], id)
local kept = redis.call('HGET', KEYS[3] .. id, ARGV[2])
local value = cjson.decode(kept or '${NOTHING_KEPT}')[1]
return { person or '${NOBODY}', value, person and kept and 1 or 0 }
`);

/** KEYS: a person's verifiers, people. ARGV: id. */
const findWhole = script(`
local person = redis.call('HGET', KEYS[2], ARGV[1])
return person and { person, redis.call('HGETALL', KEYS[1]) }
`);

/** KEYS: the order of names, names, people. ARGV: where the names begin and end, and how many. */
const slice = script(`
local names = redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'BYLEX', 'LIMIT', 0, ARGV[3])
if #names == 0 then return {} end
return redis.call('HMGET', KEYS[3], unpack(redis.call('HMGET', KEYS[2], unpack(names))))
`);

/**
 * KEYS: lists, names, people. ARGV: where the members begin and end, how many, and the list. Whoever is not in it any more
 * goes: an older version that still runs removes and changes people, and knows of no lists.
 */
const sliceOfList = script(`
${LISTS_OF}
local function isListed(record)
  for _, list in ipairs(record and listsOf(record) or {}) do
    if list == ARGV[4] then return true end
  end
  return false
end
while true do
  local people, gone = {}, {}
  for _, member in ipairs(redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'BYLEX', 'LIMIT', 0, ARGV[3])) do
    local id = redis.call('HGET', KEYS[2], string.sub(member, #ARGV[4] + 2))
    local record = id and redis.call('HGET', KEYS[3], id)
    if isListed(record) then people[#people + 1] = record else gone[#gone + 1] = member end
  end
  if #gone == 0 then return people end
  redis.call('ZREM', KEYS[1], unpack(gone))
end
`);

/** Returns a bound of a list that is that bound of names; U+0001 is the octet after NUL. */
const inList = (before: string, bound: string) =>
  bound === '+'
    ? `(${before.slice(0, -1)}\u0001`
    : `${bound.slice(0, 1)}${before}${bound.slice(1)}`;

/**
 * The sorted set `{prefix}:people:lists`, with a member `LIST NUL NAME` for each group and state of each person.
 * The sorted set `{prefix}:people:search`, with a member `KEY NUL ID` for each search key of each person.
 * The hashes `{prefix}:people`, id to JSON, `{prefix}:names`, `{prefix}:aliases` and `{prefix}:handles`, each to
 * id; the sorted set `{prefix}:names:order`; for each person `{prefix}:verifiers:{id}` (verifier-fields.ts); and the
 * set `{prefix}:names:former`, digests of the names of people who were removed, and of their looks.
 * One slot, so that one script writes all; that of the revocations, so that a change is as durable as they are:
 * a disabled person stays disabled when a replica takes over.
 */
export function redisPeople(redis: Commands, prefix: string): People {
  const people = `{${prefix}}:people`;
  const names = `{${prefix}}:names`;
  const order = `{${prefix}}:names:order`;
  const byAlias = `{${prefix}}:aliases`;
  const handles = `{${prefix}}:handles`;
  const former = `{${prefix}}:names:former`;
  const searchKeys = `{${prefix}}:people:search`;
  const lists = `{${prefix}}:people:lists`;
  const verifiersOf = (id: string) => `{${prefix}}:verifiers:${id}`;
  const parsed = (person: string): PersonRecord => JSON.parse(person);
  const find = (id: string) => redis.command<string | null>('HGET', people, id);

  async function getBy(index: string, key: string): Promise<PersonRecord | undefined> {
    const [text, found] = await redis.script<[string, number]>(findBy, [index, people], key);
    const person = parsed(text);
    return found === 1 ? person : undefined;
  }

  const keysOf = (id: string) =>
    [
      people,
      names,
      order,
      byAlias,
      handles,
      verifiersOf(id),
      former,
      searchKeys,
      ...passkeyKeys(prefix),
      lists,
    ] as const;

  async function write(
    person: PersonRecord,
    was: string,
    verifiers: readonly VerifierRow[] | undefined,
    formerName: FormerName = 'refused',
    { unshared, passkey }: WithPerson = {},
  ): Promise<boolean> {
    const { id, name, aliases = [] } = person;
    const done = await redis.durable<number>(
      put,
      keysOf(id),
      id,
      name,
      JSON.stringify(person),
      was,
      String(verifiers !== undefined),
      digestOf(name),
      formerName,
      ...(unshared === undefined ? ['', ''] : [`[${unshared}\0`, `(${unshared}\u0001`]),
      ...(passkey ? [passkey.id, JSON.stringify(passkey), placeOf(passkey)] : ['', '', '']),
      String(aliases.length),
      unshared === undefined ? '' : digestOf(unshared),
      ...aliases,
      ...(verifiers ?? []).flatMap((row) => [fieldOf(row), keptOf(row)]),
    );
    return done === 1;
  }

  async function page({ list, ...range }: PeopleRange): Promise<readonly PersonRecord[]> {
    const [from, to, limit] = lexRange(range);
    const kept = list === undefined ? undefined : listText(list);
    const found = await (kept === undefined
      ? redis.script<string[]>(slice, [order, names, people], from, to, limit)
      : redis.script<string[]>(
          sliceOfList,
          [lists, names, people],
          inList(`${kept}\0`, from),
          inList(`${kept}\0`, to),
          limit,
          kept,
        ));
    return found.map(parsed);
  }

  return {
    add: (person, verifiers = [], formerName = 'refused', together) =>
      write(person, '', verifiers, formerName, together),
    get: async (id) => personFrom(await find(id)),
    getByName: (name) => getBy(names, name),
    getByAlias: (alias) => getBy(byAlias, alias),
    async search(key) {
      // NUL ends the key; U+0001 is the next octet.
      const ends = [`${key}\0`, `${key}\u0001`] as const;
      const found = await redis.script<string[]>(searchBy, [searchKeys, people], ...ends);
      return found.map(parsed);
    },
    async getVerifier(kind, realm, who) {
      const field = fieldOf({ kind, realm });
      const [index, key] = 'name' in who ? [names, who.name] : [handles, field + who.handle];
      const [text, value, found] = await redis.script<[string, string, number]>(
        findVerifier,
        [index, people, verifiersOf('')],
        key,
        field,
      );
      const person = parsed(text);
      return found === 1 ? { person, value } : undefined;
    },
    async getWhole(id) {
      const found = await redis.script<[string, string[]] | null>(
        findWhole,
        [verifiersOf(id), people],
        id,
      );
      if (found === null) return undefined;
      const [person, kept] = found;
      const verifiers = kept.flatMap((field, n) =>
        n % 2 === 0 ? [rowOf(field, kept[n + 1] ?? '')] : [],
      );
      return { person: parsed(person), verifiers };
    },
    page,
    list: () => slices<PersonRecord>((last) => page({ after: last?.name, limit: SLICE })),
    async replace(person, verifiers) {
      const was = await find(person.id);
      if (was === null) return false;
      const { name, version } = parsed(was);
      if (version !== person.version - 1) return false;
      return write({ ...person, name }, was, verifiers);
    },
    async remove({ id, version }) {
      const was = await find(id);
      const person = personFrom(was);
      const removed =
        was !== null &&
        person?.version === version &&
        (await redis.durable<number>(
          remove,
          keysOf(id),
          id,
          person.name,
          was,
          ...formerKeys(person).map(digestOf),
        ));
      // An earlier removal may have been answered with a failure.
      if (removed !== 1) await redis.settled(people);
      return removed === 1;
    },
    isFormerName: async (name) =>
      (await redis.command<number>('SISMEMBER', former, digestOf(name))) === 1,
  };
}
