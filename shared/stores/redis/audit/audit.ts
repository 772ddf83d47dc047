import {
  type Audit,
  type AuditLink,
  type AuditRow,
  type IndexedRow,
  MOST_ENTRIES,
  type RefusalCount,
} from '#shared/stores/audit/audit.ts';
import { type Commands, script } from '../connection/connection.ts';
import { type Entry, firstOpen, partsOf, type Positions } from './open-entries.ts';
import type { AuditStreams } from './streams.ts';

const append = script(`
for _, text in ipairs(ARGV) do redis.call('XADD', KEYS[1], '*', 'text', text) end
`);

/** KEYS: counts, stream. ARGV: hour and person, most, text. */
const appendRefusal = script(`
if redis.call('HINCRBY', KEYS[1], ARGV[1], 1) <= tonumber(ARGV[2]) then
  redis.call('XADD', KEYS[2], '*', 'text', ARGV[3])
end
`);

/** KEYS: counts, stream. ARGV: hour and person, perhaps text. */
const settleRefusal = script(`
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
if ARGV[2] then redis.call('XADD', KEYS[2], '*', 'text', ARGV[2]) end
return 1
`);

/**
 * KEYS: head, rows, links, times of the links, all indexes. ARGV: the start of the names of indexes, number, link, its time,
 * the positions in the streams, each key with its seqs as JSON, and of each row its seq and text.
 */
const close = script(`
if tonumber(redis.call('HGET', KEYS[1], 'number') or 0) ~= ARGV[2] - 1 then return 0 end
redis.call('HSET', KEYS[1], 'number', ARGV[2], 'link', ARGV[3], 'positions', ARGV[5])
redis.call('XADD', KEYS[3], ARGV[2] .. '-0', 'link', ARGV[3])
redis.call('ZADD', KEYS[4], ARGV[4], ARGV[2])
for n = 7, #ARGV, 2 do redis.call('XADD', KEYS[2], ARGV[n] .. '-0', 'text', ARGV[n + 1]) end
for _, indexed in ipairs(cjson.decode(ARGV[6])) do
  local placed = {}
  for n, seq in ipairs(indexed[2]) do
    placed[2 * n - 1] = seq
    placed[2 * n] = seq
  end
  redis.call('ZADD', ARGV[1] .. indexed[1], unpack(placed))
end
return 1
`);

/**
 * KEYS: rows, links, times of the links, all indexes. ARGV: the start of the names of indexes, number, each key with its seqs
 * as JSON, and the seqs.
 */
const end = script(`
redis.call('XDEL', KEYS[2], ARGV[2] .. '-0')
redis.call('ZREM', KEYS[3], ARGV[2])
for n = 4, #ARGV do redis.call('XDEL', KEYS[1], ARGV[n] .. '-0') end
for _, indexed in ipairs(cjson.decode(ARGV[3])) do redis.call('ZREM', ARGV[1] .. indexed[1], unpack(indexed[2])) end
`);

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

/**
 * KEYS: links. ARGV: time. Numbers are searched by halves: the times of links never go back, and many may have the same,
 * which the set of times has in the order of their digits.
 */
const linkAt = script(`
local function at(from, to, command)
  return redis.call(command or 'XRANGE', KEYS[1], from, to, 'COUNT', 1)[1]
end
local first, last = at('-', '+'), at('+', '-', 'XREVRANGE')
if not first then return {} end
local low, high = tonumber(string.match(first[1], '%d+')), tonumber(string.match(last[1], '%d+'))
local found
while low <= high do
  local middle = math.floor((low + high) / 2)
  local link = at(middle .. '-0', middle .. '-0')
  if link and cjson.decode(link[2][2]).at < tonumber(ARGV[1]) then low = middle + 1
  else
    found = link or found
    high = middle - 1
  end
end
return { found }
`);

/** Milliseconds of a turn: whoever had the last one comes a second later. */
const TURN = '900';

/** Where all streams are closed, and those that a link closes. */
interface UpTo {
  readonly positions: Positions;
  readonly closed: Positions;
}

const rowOf = ([id, [, text]]: Entry): AuditRow => ({ seq: partsOf(id)[0], text });
const linkOf = ([, [, link]]: Entry): AuditLink => JSON.parse(link);

/** Returns the keys of rows, each with the seqs that have it, as JSON. Numbers in it are text: Lua has no whole ones. */
function byKey(rows: readonly IndexedRow[]): string {
  const places = rows.flatMap(({ seq, keys }) => keys.map((key) => ({ key, seq: String(seq) })));
  const all = [...Map.groupBy(places, ({ key }) => key)];
  return JSON.stringify(all.map(([key, placed]) => [key, placed.map(({ seq }) => seq)]));
}

/**
 * Open entries are in streams (`streams.ts`). The log has a slot of its own, `{prefix:audit}`: the streams `rows` and
 * `links`, whose ids are seq and number, the sorted sets `times`, number by time for earlier versions, and `by:{key}`, seqs, the hash
 * `refused`, `turn`, which is there while somebody closes, and the hash `head`: the last link, and how far each stream of open entries is closed. That position is
 * written with the rows, so that each entry becomes one row, even if a process ends before it has trimmed the streams.
 */
export function redisAudit(redis: Commands, prefix: string, streams: AuditStreams): Audit {
  const keyOf = (name: string) => `{${prefix}:audit}:${name}`;
  const [head, rows, links, times] = ['head', 'rows', 'links', 'times'].map(keyOf) as [
    string,
    string,
    string,
    string,
  ];
  const [refused, turn, by] = [keyOf('refused'), keyOf('turn'), keyOf('by:')];
  const beside = streams.of(refused);
  /**
   * The indexes that rows are in. A script names all its keys: while a slot moves, Redis else refuses a key amid the script,
   * and takes nothing back.
   */
  const indexesOf = (some: readonly { readonly keys: readonly string[] }[]) =>
    [...new Set(some.flatMap(({ keys }) => keys))].map((key) => by + key);
  const fieldOf = ({ hour, person }: Omit<RefusalCount, 'count'>) => `${hour} ${person}`;

  /** Removes what is closed. What is left after a crash goes with the next entries of its stream. */
  async function trim(positions: Positions): Promise<void> {
    await Promise.all(
      Object.entries(positions).map(([stream, id]) => {
        const [milliseconds, count] = partsOf(id);
        return redis.command('XTRIM', stream, 'MINID', '=', `${milliseconds}-${count + 1}`);
      }),
    );
  }

  return {
    append: async (...texts) => {
      await redis.durable(append, [streams.for(texts.join())], ...texts);
    },

    appendRefusal: async (of, most, text) => {
      await redis.durable(appendRefusal, [refused, beside], fieldOf(of), String(most), text);
    },

    async refusals(hour) {
      const [, found] = await redis.command<[string, string[]]>(
        'HSCAN',
        refused,
        '0',
        'COUNT',
        String(MOST_ENTRIES),
      );
      return found.flatMap((field, n): RefusalCount[] => {
        if (n % 2 === 1) return [];
        const space = field.indexOf(' ');
        const of = Number(field.slice(0, space));
        const count = Number(found[n + 1]);
        return of < hour ? [{ hour: of, person: field.slice(space + 1), count }] : [];
      });
    },

    async settleRefusal(of, text) {
      const texts = text === undefined ? [] : [text];
      const keys = [refused, beside] as const;
      return (await redis.durable<number>(settleRefusal, keys, fieldOf(of), ...texts)) === 1;
    },

    takeTurn: async () =>
      (await redis.command<string | null>('SET', turn, '', 'NX', 'PX', TURN)) !== null,

    async open() {
      const fields = ['link', 'positions'];
      const [link, text] = await redis.command<(string | null)[]>('HMGET', head, ...fields);
      const positions: Positions = JSON.parse(text ?? '{}');
      const first = await firstOpen(redis, streams.all, positions);
      const next = Object.fromEntries(first.map(({ stream, entry: [id] }) => [stream, id]));
      return {
        texts: first.map(({ entry: [, [, value]] }) => value),
        upTo: JSON.stringify({ positions: { ...positions, ...next }, closed: next } satisfies UpTo),
        head: link ? (JSON.parse(link) as AuditLink) : undefined,
      };
    },

    async close(link, closed, upTo) {
      const { number, at } = link;
      const until: UpTo = JSON.parse(upTo);
      const kept = JSON.stringify(until.positions);
      const closing = [by, String(number), JSON.stringify(link), String(at), kept, byKey(closed)];
      const keys = [head, rows, links, times, ...indexesOf(closed)] as const;
      const texts = closed.flatMap(({ seq, text }) => [String(seq), text]);
      const done = await redis.durable<number>(close, keys, ...closing, ...texts);
      if (done === 1) await trim(until.closed);
      return done === 1;
    },

    async rows({ key, first, last, newestFirst = false }, count) {
      const most = String(count);
      const range = [String(first), String(last)];
      if (key !== undefined) {
        const asked = [...range, String(newestFirst), most];
        return (await redis.script<Entry[]>(indexed, [by + key, rows], ...asked)).map(rowOf);
      }
      const [name, ...ends] = newestFirst
        ? (['XREVRANGE', ...range.toReversed()] as const)
        : (['XRANGE', ...range] as const);
      return (await redis.command<Entry[]>(name, rows, ...ends, 'COUNT', most)).map(rowOf);
    },

    async links(from, count) {
      const found =
        from === undefined
          ? await redis.command<Entry[]>('XREVRANGE', links, '+', '-', 'COUNT', '1')
          : await redis.command<Entry[]>(
              'XRANGE',
              links,
              String(from),
              '+',
              'COUNT',
              String(count),
            );
      return found.map(linkOf);
    },

    async linkAt(at) {
      const [found] = await redis.script<Entry[]>(linkAt, [links], String(at));
      return found && linkOf(found);
    },

    async end({ number }, ended) {
      const ending = [by, String(number), byKey(ended), ...ended.map(({ seq }) => String(seq))];
      const keys = [rows, links, times, ...indexesOf(ended)] as const;
      await redis.durable(end, keys, ...ending);
    },
  };
}
