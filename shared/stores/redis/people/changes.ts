import { script } from '../connection/connection.ts';

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

/** Puts a person into the lists of their groups and states, and out of those of the former record. KEYS: as of `put`. */
const LISTS = `
local function listsOf(record)
  if record == '' then return {} end
  local person = cjson.decode(record)
  local lists = { person.disabled == true and 'state:disabled' or 'state:active' }
  if person.admin == true then lists[#lists + 1] = 'state:admin' end
  for _, group in ipairs(person.profile and person.profile.groups or {}) do lists[#lists + 1] = 'group:' .. group end
  return lists
end
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
export const put = script(`
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
export const remove = script(`
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
