import type { AuditQuery, AuditRow, IndexedRow } from '#shared/stores/audit/audit.ts';
import { type Commands, script } from '../connection/connection.ts';
import { firstOf, type ReadPart } from '../connection/first-of.ts';
import { byKey, INDEX, indexesOf, rowsIn } from './rows.ts';

/** Places of the log in a row that are in one slot: a page or a link is in a few slots, and all have the same share. */
const BLOCK = 1024;

/**
 * KEYS: the attempt that wrote last here, rows, all indexes. ARGV: the attempt, the start of the names of indexes, each key with
 * its seqs as JSON, and of each row its seq and text. Replies with the latest attempt that has been here. Rows in the way are those
 * of an attempt that Redis has forgotten in the slot of the head.
 */
const file = script(`${INDEX}
local latest = redis.call('GET', KEYS[1])
if tonumber(latest or 0) >= tonumber(ARGV[1]) then return latest end
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
if last and tonumber(string.match(last[1], '%d+')) >= tonumber(ARGV[4]) then
  local kept = redis.call('XRANGE', KEYS[2], '-', '(' .. ARGV[4] .. '-0')
  redis.call('DEL', KEYS[2])
  for _, row in ipairs(kept) do redis.call('XADD', KEYS[2], row[1], unpack(row[2])) end
end
index(ARGV[2], ARGV[3])
for n = 4, #ARGV, 2 do redis.call('XADD', KEYS[2], ARGV[n] .. '-0', 'text', ARGV[n + 1]) end
redis.call('SET', KEYS[1], ARGV[1])
return ARGV[1]
`);

/** KEYS: rows, all indexes. ARGV: the start of the names of indexes, each key with its seqs as JSON, and the seqs. */
const remove = script(`
for n = 3, #ARGV do redis.call('XDEL', KEYS[1], ARGV[n] .. '-0') end
for _, indexed in ipairs(cjson.decode(ARGV[2])) do redis.call('ZREM', ARGV[1] .. indexed[1], unpack(indexed[2])) end
`);

const slotOf = (slots: readonly string[], seq: number): string =>
  slots[Math.floor(seq / BLOCK) % slots.length] ?? '';

const keysOf = (slot: string) => ({
  rows: `${slot}:audit:rows`,
  by: `${slot}:audit:by:`,
  /** The attempt that wrote last. */
  attempt: `${slot}:audit:attempt`,
});

/** Returns the keys of the slot in which a row is. */
export const placeOf = (slots: readonly string[], seq: number) => keysOf(slotOf(slots, seq));

/** Returns rows by the keys of their slots. */
const bySlot = (slots: readonly string[], rows: readonly IndexedRow[]) =>
  [...Map.groupBy(rows, ({ seq }) => slotOf(slots, seq))].map(
    ([slot, some]) => [keysOf(slot), some] as const,
  );

/**
 * Writes rows in each of their slots at once. Of several attempts the latest stays, whichever comes last. Resolves to the latest
 * that has written in any of these slots.
 */
export async function fileRows(
  redis: Commands,
  slots: readonly string[],
  attempt: string,
  rows: readonly IndexedRow[],
): Promise<number> {
  const latest = await Promise.all(
    bySlot(slots, rows).map(async ([keys, some]) => {
      const written = [keys.attempt, keys.rows, ...indexesOf(keys, some)] as const;
      const texts = some.flatMap(({ seq, text }) => [String(seq), text]);
      const args = [attempt, keys.by, byKey(some), ...texts];
      return Number(await redis.durable<string>(file, written, ...args));
    }),
  );
  return Math.max(...latest);
}

export async function removeRows(
  redis: Commands,
  slots: readonly string[],
  rows: readonly IndexedRow[],
): Promise<void> {
  await Promise.all(
    bySlot(slots, rows).map(async ([keys, some]) => {
      const written = [keys.rows, ...indexesOf(keys, some)] as const;
      const seqs = some.map(({ seq }) => String(seq));
      await redis.durable(remove, written, keys.by, byKey(some), ...seqs);
    }),
  );
}

/** Returns the first `count` rows of a range; without a key block by block, with one from all slots of the range. */
export async function findRows(
  redis: Commands,
  slots: readonly string[],
  query: AuditQuery,
  count: number,
): Promise<readonly AuditRow[]> {
  if (query.key !== undefined) return mergedRows(redis, slots, query, count);
  const found: AuditRow[] = [];
  let { first, last } = query;
  while (found.length < count && first <= last) {
    const at = query.newestFirst ? last : first;
    const begin = at - (at % BLOCK);
    const block = { first: Math.max(first, begin), last: Math.min(last, begin + BLOCK - 1) };
    const keys = placeOf(slots, at);
    found.push(...(await rowsIn(redis, keys, { ...query, ...block }, count - found.length)));
    if (query.newestFirst) last = begin - 1;
    else first = begin + BLOCK;
  }
  return found;
}

/** Returns the same by asking each slot that has a part of the range. */
export function mergedRows(
  redis: Commands,
  slots: readonly string[],
  query: AuditQuery,
  count: number,
): Promise<readonly AuditRow[]> {
  const { first, last, newestFirst = false } = query;
  const blocks = Math.floor(last / BLOCK) - Math.floor(first / BLOCK) + 1;
  const parts = Array.from({ length: Math.min(blocks, slots.length) }, (_, n) => {
    const keys = placeOf(slots, first + n * BLOCK);
    const read: ReadPart<AuditRow> = (after, most) => {
      const rest = newestFirst
        ? { last: after === undefined ? last : after.seq - 1 }
        : { first: after === undefined ? first : after.seq + 1 };
      return rowsIn(redis, keys, { ...query, ...rest }, most);
    };
    return read;
  });
  const inOrder = (a: AuditRow, b: AuditRow) => (newestFirst ? b.seq - a.seq : a.seq - b.seq);
  return firstOf(parts, inOrder, count);
}
