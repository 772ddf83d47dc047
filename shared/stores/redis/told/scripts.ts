import { script } from '../connection/connection.ts';

/**
 * Redis has a hash and a stream for each table, all in one slot. The hash says of which record it is (`record`, `epoch`), which
 * memory of it (`memory`), in which run it was compared last (`run`), the last number that was told of each table (`{table}`),
 * and behind which number the stream has all rows (`{table}:start`).
 */

/**
 * KEYS: hash, streams. ARGV: record, epoch, a memory, the run, then a table and the last number in SQL for each stream. Replies with
 * what was found, and for each stream the last number that is told. All is begun again where less is told than SQL has, unless Redis
 * was compared in this run already: then the rest is about to be told. So it is where more is told while the record has no epoch:
 * then nobody believes either. Where Redis takes no writes for now, it can still be known.
 */
export const begin = script(`
local found = redis.call('HMGET', KEYS[1], 'record', 'epoch', 'memory', 'run')
if found[1] and found[1] ~= ARGV[1] then return { 'another record' } end
local isKnown = found[2] == ARGV[2]
local isAhead = false
local lasts = {}
for n = 5, #ARGV, 2 do
  local last = redis.call('HGET', KEYS[1], ARGV[n]) or '0'
  lasts[#lasts + 1] = last
  if tonumber(last) < tonumber(ARGV[n + 1]) and found[4] ~= ARGV[4] then isKnown = false end
  if tonumber(last) > tonumber(ARGV[n + 1]) then isAhead = true end
end
if found[2] == ARGV[2] and isAhead and ARGV[2] ~= '' then return { 'ahead', '', unpack(lasts) } end
if isKnown and not isAhead then
  redis.pcall('HSET', KEYS[1], 'run', ARGV[4])
  return { 'known', found[3], unpack(lasts) }
end
redis.call('DEL', unpack(KEYS))
redis.call('HSET', KEYS[1], 'record', ARGV[1], 'epoch', ARGV[2], 'memory', ARGV[3], 'run', ARGV[4])
lasts = {}
for n = 5, #ARGV, 2 do
  lasts[#lasts + 1] = ARGV[n + 1]
  redis.call('HSET', KEYS[1], ARGV[n], ARGV[n + 1], ARGV[n] .. ':start', ARGV[n + 1])
end
return { 'begun', ARGV[3], unpack(lasts) }
`);

/**
 * KEYS: hash, stream. ARGV: memory, table, the number behind which the rows come, the last number in SQL by then, how many rows
 * the stream keeps, then number and columns of each row (JSON). Replies with the last number that is told; false in another memory.
 */
export const tell = script(`
if redis.call('HGET', KEYS[1], 'memory') ~= ARGV[1] then return false end
local table = ARGV[2]
local last = redis.call('HGET', KEYS[1], table)
if last ~= ARGV[3] then return last end
-- A write that needs no memory: behind it Redis refuses none of the script because its memory is full.
redis.call('XTRIM', KEYS[2], 'MAXLEN', '=', ARGV[5])
for n = 6, #ARGV, 2 do redis.call('XADD', KEYS[2], ARGV[n] .. '-0', 'row', ARGV[n + 1]) end
if redis.call('XTRIM', KEYS[2], 'MAXLEN', '=', ARGV[5]) > 0 then
  local first = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1][1]
  local start = string.format('%.0f', tonumber(string.match(first, '^%d+')) - 1)
  redis.call('HSET', KEYS[1], table .. ':start', start)
end
redis.call('HSET', KEYS[1], table, ARGV[4])
return ARGV[4]
`);

/** KEYS: hash, stream. ARGV: memory, table, a number. Replies with the rows behind it; false where it does not have all of them. */
export const behind = script(`
local found = redis.call('HMGET', KEYS[1], 'memory', ARGV[2] .. ':start')
if found[1] ~= ARGV[1] or tonumber(ARGV[3]) < tonumber(found[2]) then return false end
return redis.call('XRANGE', KEYS[2], '(' .. ARGV[3] .. '-0', '+')
`);

/** Entries of a stream: the id, then names and values of the fields in turn. */
export type Entries = readonly (readonly [id: string, fields: readonly string[]])[];
