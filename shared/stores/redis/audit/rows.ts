import type { AuditQuery, AuditRow, IndexedRow } from '#shared/stores/audit/audit.ts';
import { type Commands, script } from '../connection/connection.ts';
import { type Entry, partsOf } from './open-entries.ts';

/** KEYS: index, rows. ARGV: first, last, whether the newest come first, how many. */
const indexed = script(`
local order = ARGV[3] == 'true' and 'REV' or nil
local from, to = ARGV[1], ARGV[2]
if order then from, to = to, from end
local seqs
if order then seqs = redis.call('ZRANGE', KEYS[1], from, to, 'BYSCORE', 'REV', 'LIMIT', 0, ARGV[4])
else seqs = redis.call('ZRANGE', KEYS[1], from, to, 'BYSCORE', 'LIMIT', 0, ARGV[4]) end
local found = {}
for _, seq in ipairs(seqs) do
  local row = redis.call('XRANGE', KEYS[2], seq .. '-0', seq .. '-0')[1]
  if row then found[#found + 1] = row end
end
return found
`);

/** Adds seqs to indexes: the start of their names, and each key with its seqs as JSON. */
export const INDEX = `
local function index(by, json)
  for _, indexed in ipairs(cjson.decode(json)) do
    local placed = {}
    for n, seq in ipairs(indexed[2]) do
      placed[2 * n - 1] = seq
      placed[2 * n] = seq
    end
    redis.call('ZADD', by .. indexed[1], unpack(placed))
  end
end
`;

/** Rows that are in one slot: the stream `rows`, whose ids are seqs, and the sorted sets of their seqs, which begin with `by`. */
export interface RowKeys {
  readonly rows: string;
  readonly by: string;
}

/** Returns the first `count` rows of a slot that are in the range and have the key, if one is given. */
export async function rowsIn(
  redis: Commands,
  { rows, by }: RowKeys,
  { key, first, last, newestFirst = false }: AuditQuery,
  count: number,
): Promise<readonly AuditRow[]> {
  const range = [String(first), String(last)];
  const most = String(count);
  if (key !== undefined) {
    const asked = [...range, String(newestFirst), most];
    return (await redis.script<Entry[]>(indexed, [by + key, rows], ...asked)).map(rowOf);
  }
  const [name, ...ends] = newestFirst
    ? (['XREVRANGE', ...range.toReversed()] as const)
    : (['XRANGE', ...range] as const);
  return (await redis.command<Entry[]>(name, rows, ...ends, 'COUNT', most)).map(rowOf);
}

const rowOf = ([id, [, text]]: Entry): AuditRow => ({ seq: partsOf(id)[0], text });

/**
 * The indexes that rows are in. A script names all its keys: while a slot moves, Redis else refuses a key amid the script,
 * and takes nothing back.
 */
export const indexesOf = (
  { by }: RowKeys,
  some: readonly { readonly keys: readonly string[] }[],
): readonly string[] => [...new Set(some.flatMap(({ keys }) => keys))].map((key) => by + key);

/** Returns the keys of rows, each with the seqs that have it, as JSON. Numbers in it are text: Lua has no whole ones. */
export function byKey(rows: readonly Pick<IndexedRow, 'seq' | 'keys'>[]): string {
  const places = rows.flatMap(({ seq, keys }) => keys.map((key) => ({ key, seq: String(seq) })));
  const all = [...Map.groupBy(places, ({ key }) => key)];
  return JSON.stringify(all.map(([key, placed]) => [key, placed.map(({ seq }) => seq)]));
}
