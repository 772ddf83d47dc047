import { MOST_ENTRIES } from '#shared/stores/audit/audit.ts';
import { oneSlotKeys } from '../audit/audit.ts';
import { fileRows, placeSeqs, type PlacedSeqs } from '../audit/filed-rows.ts';
import { refusalPlaces } from '../audit/in-slots.ts';
import { logKeys } from '../audit/links.ts';
import { rowsIn } from '../audit/rows.ts';
import { script } from '../connection/connection.ts';
import { scan } from '../connection/scan.ts';
import type { Move, Mover } from './move.ts';

/** KEYS: counts. ARGV: fields and counts. Those that are there were written by a run that was stopped. */
const writeCounts = script(`
for n = 1, #ARGV, 2 do redis.call('HSETNX', KEYS[1], ARGV[n], ARGV[n + 1]) end
`);

/** KEYS: indexes. ARGV: the last seq of each that is in its slot. */
const removePlaced = script(`
for n, index in ipairs(KEYS) do redis.call('ZREMRANGEBYSCORE', index, '-inf', ARGV[n]) end
`);

/** KEYS: head, links. The rows of links before the first one have ended. */
const sayEnded = script(`
local first = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
if first then redis.call('HSETNX', KEYS[1], 'ended', cjson.decode(first[2][2]).first - 1) end
`);

/** How often the indexes are looked through at least: their slot may go to another master meanwhile. */
const LOOKS = 2;

/**
 * Rows, their indexes and the counts of refusals: what was written is removed at its former place at once, in its order. The
 * links and the open entries stay where they are.
 */
export const moveAudit: Mover = async (run) => {
  const { redis, prefix } = run;
  const { head, links, times } = logKeys(prefix);
  await redis.durable(sayEnded, [head, links]);
  await moveRows(run);
  const { by } = oneSlotKeys(prefix);
  for (let looks = 1, isFound = true; isFound || looks <= LOOKS; looks += 1) {
    isFound = false;
    for await (const found of redis.keys(`${by}*`)) {
      for (let names = found; names.length > 0; names = await moveSome(run, names)) isFound = true;
    }
  }
  await moveCounts(run);
  await redis.durableCommand('DEL', times);
};

async function moveRows({ redis, mine, prefix, slots, count }: Move): Promise<void> {
  const keys = oneSlotKeys(prefix);
  const all = { first: 1, last: Number.MAX_SAFE_INTEGER };
  for (;;) {
    const rows = await rowsIn(redis, keys, all, MOST_ENTRIES);
    const last = rows.at(-1);
    if (last === undefined) break;
    // Later than each attempt before it, earlier than any of a server.
    const attempt = (some: typeof rows) => String(some.at(-1)?.seq);
    const bare = rows.map((row) => ({ ...row, keys: [] }));
    await fileRows(mine, slots.all, attempt, bare);
    await redis.durableCommand('XTRIM', keys.rows, 'MINID', '=', `${last.seq + 1}-0`);
    count(rows.length);
  }
  await redis.durableCommand('DEL', keys.rows);
}

/** Moves the first seqs of some indexes. Returns the indexes that may have more. */
async function moveSome(
  { redis, mine, prefix, slots, count }: Move,
  names: readonly string[],
): Promise<readonly string[]> {
  const { by } = oneSlotKeys(prefix);
  const read = await Promise.all(
    names.map(async (name): Promise<PlacedSeqs> => {
      const seqs = await redis.command<string[]>('ZRANGE', name, '0', String(MOST_ENTRIES - 1));
      return { key: name.slice(by.length), seqs: seqs.map(Number) };
    }),
  );
  const some = read.filter(({ seqs }) => seqs.length > 0);
  const [first, ...rest] = some.map(({ key }) => by + key);
  if (first === undefined) return [];
  await placeSeqs(mine, slots.all, some);
  const lasts = some.map(({ seqs }) => String(seqs.at(-1)));
  await redis.durable(removePlaced, [first, ...rest], ...lasts);
  const more = some.filter(({ seqs }) => seqs.length === MOST_ENTRIES).map(({ key }) => by + key);
  count(some.length - more.length);
  return more;
}

async function moveCounts({ redis, mine, prefix, slots, count }: Move): Promise<void> {
  const { refused } = oneSlotKeys(prefix);
  const places = refusalPlaces(slots);
  for await (const slice of scan(redis, refused)) {
    const personOf = (field: string) => field.slice(field.indexOf(' ') + 1);
    const parts = Map.groupBy(slice, ([field]) => places.of(personOf(field)));
    await Promise.all(
      [...parts].map(([to, some]) => mine.durable(writeCounts, [to], ...some.flat())),
    );
    count(slice.length);
  }
  await redis.durableCommand('DEL', refused);
}
