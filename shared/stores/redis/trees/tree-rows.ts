import { bytesOf, propertyBytesOf } from '#shared/stores/trees/entry-bytes.ts';
import type { Collection, Document, Entry, Listed } from '#shared/stores/trees/trees.ts';

/** Members that are not in the first JSON of a row: they change when an entry moves, or follow from another field. */
type Apart = 'path' | 'id' | 'created' | 'modified' | 'properties';

/**
 * A row is when the entry was created and modified, its revision, its bytes, those of its dead properties,
 * the name of its file (empty for a collection) and the JSON of the rest, parted by spaces; after a line
 * feed the JSON of the dead properties. JSON is never taken apart by a script.
 */
export function rowOf(entry: Entry): string {
  const { created, modified, revision, properties } = entry;
  const apart: Record<Apart, undefined> = {
    path: undefined,
    id: undefined,
    created: undefined,
    modified: undefined,
    properties: undefined,
  };
  const bytes = [bytesOf(entry), propertyBytesOf(entry)];
  const file = entry.kind === 'document' ? token(entry.file) : '';
  const rest = JSON.stringify({ ...entry, ...apart });
  const line = [created, modified, token(revision), ...bytes, file, rest].join(' ');
  return `${line}\n${JSON.stringify(properties)}`;
}

export function entryOf(path: string, row: string): Entry {
  const properties: Entry['properties'] = JSON.parse(row.slice(row.indexOf('\n')));
  const listed = listedOf(path, row);
  if (listed.kind === 'document') return { ...listed, properties };
  const [created, , revision] = row.split(' ', 3);
  return { ...listed, properties, id: `${created} ${revision}` };
}

/** Returns the listed entry of a row, or of its first line. */
export function listedOf(path: string, row: string): Listed {
  const [line = ''] = row.split('\n', 1);
  const [created, modified] = line.split(' ', 2);
  const rest: Omit<Document, Apart> | Omit<Collection, Apart> = JSON.parse(
    line.slice(line.indexOf('{')),
  );
  return { path, created: Number(created), modified: Number(modified), ...rest };
}

/** As a row has a revision or a file: without spaces and braces. */
export const token = encodeURIComponent;
export const untoken = decodeURIComponent;

/** A member of the sorted set: NUL is below every byte of a path, so its order is that of both parts. */
export const memberOf = (collection: string, name: string): string => `${collection}\0${name}`;

/**
 * In Lua: `fields(row)` are revision, bytes, those of dead properties, and file of a row; `id_of(row)` is the id of
 * a collection, or nil; `listed(row)` is its first line; `arrived(row, modified, created)` is the row with other times, `created` only if it is
 * given; `member_of(path)` and `path_of(member)` are the reverse of one another; `chunks(list, work)` hands
 * over at most 1,000 at a time, since a call takes some thousand arguments.
 */
export const ROWS = `
local function fields(row) return string.match(row, '^%S* %S* (%S*) (%S*) (%S*) (%S*) ') end
local function id_of(row)
  local created, revision = string.match(row, '^(%S*) %S* (%S*) %S* %S*  ')
  return created and created .. ' ' .. revision
end
local function listed(row) return string.match(row, '^[^\\n]*') end
local function arrived(row, modified, created)
  local before, rest = string.match(row, '^(%S*) %S*( .*)$')
  return (created or before) .. ' ' .. modified .. rest
end
local function split(path)
  local parent, name = string.match(path, '^(.*)/(.*)$')
  if parent then return parent, name end
  return '', path
end
local function member_of(path)
  local parent, name = split(path)
  return parent .. '\\0' .. name
end
local function path_of(member)
  local parent, name = string.match(member, '^(.*)%z(.*)$')
  if parent == '' then return name end
  return parent .. '/' .. name
end
local function chunks(list, work)
  for first = 1, #list, 1000 do work(unpack(list, first, math.min(first + 999, #list))) end
end
local function rows_at(rows, paths)
  local found = {}
  chunks(paths, function(...)
    for _, row in ipairs(redis.call('HMGET', rows, ...)) do found[#found + 1] = row end
  end)
  return found
end
`;
