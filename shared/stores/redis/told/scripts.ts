import { script } from '../connection/connection.ts';

/**
 * Redis has a hash, and a stream for each table, all in one slot. The hash has the id of the store in
 * PostgreSQL (`record`), its `epoch`, the identifier of the memory (`memory`), the run of the last comparison (`run`),
 * the last number of each table (`{table}`), and the number after which the stream has all rows (`{table}:start`).
 */

/**
 * KEYS: hash, streams. ARGV: record, epoch, a new memory, the run, then a table and its last number in SQL for each
 * stream. Replies with the finding, and the last number of each stream. Begins again if Redis lacks rows of SQL, unless
 * Redis was compared in this run: then another process is telling the rows. Begins again, too, if Redis has more rows
 * and PostgreSQL has no epoch. If Redis takes no writes, the comparison still works.
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
 * KEYS: hash, stream. ARGV: memory, table, the number before the rows, the last number in SQL, the length of the
 * stream, then number and columns of each row (JSON). Replies with the last number in Redis; false in another memory.
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

/** KEYS: hash, stream. ARGV: memory, table, number. Replies with the rows after it; false if the stream lacks some. */
export const behind = script(`
local found = redis.call('HMGET', KEYS[1], 'memory', ARGV[2] .. ':start')
if found[1] ~= ARGV[1] or tonumber(ARGV[3]) < tonumber(found[2]) then return false end
return redis.call('XRANGE', KEYS[2], '(' .. ARGV[3] .. '-0', '+')
`);

/** Entries of a stream: the id, then names and values of the fields in turn. */
export type Entries = readonly (readonly [id: string, fields: readonly string[]])[];
