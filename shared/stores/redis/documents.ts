import type { Change, DocumentRow, Documents, Expected } from '#shared/stores/documents.ts';
import { script } from './connection.ts';
import type { Connection } from './connection.ts';

/**
 * One compare-and-set. KEYS: rows (hash: path to JSON), paths (sorted set, all of score 0: by bytes).
 * ARGV: path, new row or '' to remove, 'any' or 'absent' or 'etag', etag.
 * Replies with {1, row before} or {0, row that is there}.
 */
const change = script(`
local before = redis.call('HGET', KEYS[1], ARGV[1])
local met = ARGV[3] == 'any' or (ARGV[3] == 'absent' and not before)
  or (ARGV[3] == 'etag' and before and cjson.decode(before).etag == ARGV[4])
if not met then return { 0, before } end
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('ZADD', KEYS[2], 0, ARGV[1])
end
return { 1, before }
`);

/** The rows whose path begins with ARGV[1]; no UTF-8 has a byte 255. */
const list = script(`
local rows = {}
for _, path in ipairs(redis.call('ZRANGE', KEYS[2], '[' .. ARGV[1], '(' .. ARGV[1] .. '\\255', 'BYLEX')) do
  rows[#rows + 1] = redis.call('HGET', KEYS[1], path)
end
return rows
`);

/** `{prefix:space}:documents` and `{prefix:space}:paths`: a space is in one slot. */
export function redisDocuments(redis: Connection, prefix: string): Documents {
  const names = (space: string): [string, string] => {
    const tag = `{${prefix}:${encodeURIComponent(space)}}`;
    return [`${tag}:documents`, `${tag}:paths`];
  };
  const parsed = (row: string | null): DocumentRow | undefined =>
    row === null ? undefined : JSON.parse(row);

  async function set(
    space: string,
    path: string,
    row: string,
    expected: Expected,
  ): Promise<Change> {
    const [kind, etag] = typeof expected === 'string' ? [expected, ''] : ['etag', expected.etag];
    const [done, found] = await redis.script<[0 | 1, string | null]>(
      change,
      names(space),
      path,
      row,
      kind,
      etag,
    );
    return done === 1
      ? { kind: 'changed', before: parsed(found) }
      : { kind: 'conflict', current: parsed(found) };
  }

  return {
    get: async (space, path) =>
      parsed(await redis.command<string | null>('HGET', names(space)[0], path)),
    put: (space, row, expected) => set(space, row.path, JSON.stringify(row), expected),
    remove: (space, path, expected) => set(space, path, '', expected),
    async list(space, start) {
      const rows = await redis.script<string[]>(list, names(space), start);
      return rows.map((row): DocumentRow => JSON.parse(row));
    },
  };
}
