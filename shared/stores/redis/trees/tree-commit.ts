import { type ByKind, byKind } from '#shared/stores/trees/edits.ts';
import { type Change, ImpossibleEdit, type CommitOutcome } from '#shared/stores/trees/trees.ts';
import { script } from '../connection/connection.ts';
import { LOCK_CHANGES, lockReach } from '#shared/stores/trees/lock-reach.ts';
import { ROWS, rowOf, token, untoken } from './tree-rows.ts';

/**
 * A script that fails halfway is not undone. So the edits are made on what is remembered in `now`, above
 * what is read, all that can be refused is refused, and then everything is written.
 *
 * KEYS and the order of ARGV: `redisTrees`, `argumentsOf`.
 */
export const COMMIT = script(`
local rows, names, files, locks, meta, relocked, contents = unpack(KEYS)
local taken = 0
local function take()
  taken = taken + 1
  return ARGV[taken]
end
${ROWS}

local function within(path, collection)
  return collection == '' or string.sub(path, 1, #collection + 1) == collection .. '/'
end
local next_version = take()
local version, judged = tonumber(redis.call('HGET', meta, 'locks') or 0), tonumber(take())
local covered, above = {}, {}
for _, reach in ipairs({ covered, above }) do
  for n = 1, tonumber(take()) do reach[n] = take() end
end
if version ~= judged then
  local remembered, last = 0, nil
  for _, entry in ipairs(redis.call('ZRANGE', relocked, '(' .. judged, '+inf', 'BYSCORE')) do
    local changed, root = string.match(entry, '^(%d+) (.*)$')
    if changed ~= last then remembered = remembered + 1 end
    last = changed
    for _, path in ipairs(covered) do
      if path == root or within(path, root) then return { 'conflict' } end
    end
    for _, path in ipairs(above) do
      if within(root, path) then return { 'conflict' } end
    end
  end
  if remembered ~= version - judged then return { 'conflict' } end
end
for _ = 1, tonumber(take()) do
  local row = redis.call('HGET', rows, take())
  if (row and fields(row) or '') ~= take() then return { 'conflict' } end
end

local before, now, touched = {}, {}, {}
local function read(paths)
  local unknown = {}
  for _, path in ipairs(paths) do
    if before[path] == nil then unknown[#unknown + 1] = path end
  end
  for n, row in ipairs(rows_at(rows, unknown)) do before[unknown[n]] = row end
end
local function at(path)
  if now[path] ~= nil then return now[path] end
  if before[path] == nil then read({ path }) end
  return before[path]
end
local function set(path, row)
  if now[path] == nil then touched[#touched + 1] = path end
  now[path] = row
end

local added, named, dropped, kept = { bytes = 0, properties = 0, entries = 0 }, {}, {}, {}
local function count(path, row, sign)
  local _, bytes, properties, file = fields(row)
  added.bytes = added.bytes + sign * tonumber(bytes)
  added.properties = added.properties + sign * tonumber(properties)
  if path ~= '' then added.entries = added.entries + sign end
  if file ~= '' then
    named[file] = (named[file] or 0) + sign
    if sign < 0 then dropped[file] = true end
  end
end
local function is_collection(row)
  local _, _, _, file = fields(row)
  return file == ''
end

local function tree_at(path)
  local found = {}
  for _, range in ipairs({ { path .. '\\0', path .. '\\1' }, { path .. '/', path .. '0' } }) do
    local members = redis.call('ZRANGE', names, '[' .. range[1], '(' .. range[2], 'BYLEX')
    for _, member in ipairs(members) do
      local stored = path_of(member)
      if now[stored] == nil then found[#found + 1] = stored end
    end
  end
  local start = path .. '/'
  for _, other in ipairs(touched) do
    if now[other] and string.sub(other, 1, #start) == start then found[#found + 1] = other end
  end
  found[#found + 1] = path
  read(found)
  return found
end
local too_long = false
local function renamed(paths, from, to, longest)
  local there = {}
  for n, path in ipairs(paths) do
    there[n] = to .. string.sub(path, #from + 1)
    too_long = too_long or #there[n] > longest
  end
  read(there)
  return there
end

local function misplaced(path)
  local parent = split(path)
  local row = parent == '' or at(parent)
  if row == true or row and is_collection(row) then return nil end
  return 'there is no collection at ' .. parent
end
local function occupied(path)
  if at(path) then return 'there is something at ' .. path end
  return misplaced(path)
end

local locked, roots = {}, {}
local edits = {
  put = function()
    local path, row, content = take(), take(), take()
    local old = at(path)
    local reason = not old and misplaced(path)
    if reason then return reason end
    if old then
      if is_collection(old) ~= is_collection(row) then return 'there is another kind at ' .. path end
      count(path, old, -1)
    end
    count(path, row, 1)
    set(path, row)
    local _, _, _, file = fields(row)
    if content ~= '' then kept[file] = string.sub(content, 2) end
  end,
  remove = function()
    local path = take()
    if not at(path) then return end
    local gone = tree_at(path)
    for _, each in ipairs(gone) do
      count(each, at(each), -1)
      set(each, false)
    end
  end,
  move = function()
    local from, to, time, longest = take(), take(), take(), tonumber(take())
    if not at(from) then return end
    local reason = occupied(to)
    if reason then return reason end
    local paths = tree_at(from)
    for n, path in ipairs(renamed(paths, from, to, longest)) do
      set(path, arrived(at(paths[n]), time))
      set(paths[n], false)
    end
  end,
  copy = function()
    local from, to, time, longest, deep = take(), take(), take(), tonumber(take()), take()
    if not at(from) then return end
    local reason = occupied(to)
    if reason then return reason end
    local paths = deep == '1' and tree_at(from) or { from }
    for n, path in ipairs(renamed(paths, from, to, longest)) do
      set(path, arrived(at(paths[n]), time, time))
      count(path, now[path], 1)
    end
  end,
  lock = function()
    local id, root = take(), take()
    locked[id] = take()
    roots[root] = true
  end,
  unlock = function()
    local id, root = take(), take()
    if locked[id] == nil then locked[id] = redis.call('HGET', locks, id) end
    if locked[id] then roots[root] = true end
    locked[id] = false
  end,
}
local quota = {
  bytes = tonumber(take()),
  properties = tonumber(take()),
  entries = tonumber(take()),
}
for _ = 1, tonumber(take()) do
  local reason = edits[take()]()
  if reason then return { 'impossible', reason } end
end

if too_long then return { 'too long' } end
for what, most in pairs(quota) do
  local total = (redis.call('HGET', meta, what) or 0) + added[what]
  if added[what] > 0 and total > most then return { 'full' } end
end

local gone, out, new, put = {}, {}, {}, {}
for _, path in ipairs(touched) do
  if now[path] then
    put[#put + 1] = path
    put[#put + 1] = now[path]
    if not before[path] and path ~= '' then
      new[#new + 1] = 0
      new[#new + 1] = member_of(path)
    end
  elseif before[path] then
    gone[#gone + 1] = path
    out[#out + 1] = member_of(path)
  end
end
chunks(put, function(...) redis.call('HSET', rows, ...) end)
chunks(new, function(...) redis.call('ZADD', names, ...) end)
chunks(gone, function(...) redis.call('HDEL', rows, ...) end)
chunks(out, function(...) redis.call('ZREM', names, ...) end)
for what, sum in pairs(added) do
  if sum ~= 0 then redis.call('HINCRBY', meta, what, string.format('%.0f', sum)) end
end
for id, lock in pairs(locked) do
  if lock then redis.call('HSET', locks, id, lock) else redis.call('HDEL', locks, id) end
end
if next(roots) then
  local new = redis.call('HINCRBY', meta, 'locks', 1)
  local text = string.format('%.0f', new)
  for root in pairs(roots) do redis.call('ZADD', relocked, new, text .. ' ' .. root) end
  redis.call('ZREMRANGEBYSCORE', relocked, '-inf', new - ${LOCK_CHANGES})
end
-- Last: a server without memory lets a script go on that has removed something.
if #touched > 0 or next(locked) then redis.call('HSET', meta, 'version', next_version) end

local reply = { 'done' }
for file, sum in pairs(named) do
  if sum ~= 0 or dropped[file] then
    local left = redis.call('HINCRBY', files, file, sum)
    if left == 0 then
      redis.call('HDEL', files, file)
      local was_kept = redis.call('HDEL', contents, file) == 1
      if not was_kept and not kept[file] then reply[#reply + 1] = file end
    elseif kept[file] then
      redis.call('HSET', contents, file, kept[file])
    end
  end
end
return reply
`);

/**
 * The version that the tree has then; that of the locks; how many paths are within reach of locks at and above them, and which; how many of
 * those within them, and which; how many paths were seen, each with its revision or ''; the quota; how many
 * edits there are, each as its kind and what it needs.
 */
export function argumentsOf(change: Change, version: string): string[] {
  const { seen, locksVersion, edits, quota } = change;
  const { at, below } = lockReach(change);
  const flat = edits.flatMap((edit) => byKind(ARGUMENTS, edit, undefined));
  return [
    version,
    locksVersion,
    String(at.length),
    ...at,
    String(below.length),
    ...below,
    String(seen.size),
    ...[...seen].flatMap(([path, revision]) => [path, token(revision ?? '')]),
    String(quota.bytes),
    String(quota.properties),
    String(quota.entries),
    String(flat.length),
    ...flat.flat(),
  ];
}

/** An edit of several locks is as many of one. */
const ARGUMENTS: ByKind<undefined, readonly (readonly string[])[]> = {
  put: ({ kind, entry, content }) => [[kind, entry.path, rowOf(entry), contentArgument(content)]],
  remove: ({ kind, path }) => [[kind, path]],
  move: ({ kind, from, to, at, longest }) => [[kind, from, to, String(at), String(longest)]],
  copy: ({ kind, from, to, at, longest, deep }) => [
    [kind, from, to, String(at), String(longest), deep ? '1' : '0'],
  ],
  lock: ({ kind, lock }) => [[kind, lock.token, lock.root, JSON.stringify(lock)]],
  unlock: ({ kind, locks }) => locks.map(({ token: id, root }) => [kind, id, root]),
};

/** Content in base64 behind a sign, since it may be empty; '' for none. */
function contentArgument(content: Uint8Array | undefined): string {
  return content === undefined ? '' : `=${Buffer.from(content).toString('base64')}`;
}

export type CommitReply = readonly [kind: CommitOutcome['kind'] | 'impossible', ...string[]];

/** Throws `ImpossibleEdit`. */
export function outcomeOf([kind, ...rest]: CommitReply): CommitOutcome {
  if (kind === 'impossible') throw new ImpossibleEdit(rest[0]);
  return kind === 'done' ? { kind, released: rest.map(untoken) } : { kind };
}
