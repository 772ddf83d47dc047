import type { Audit, AuditLink } from '#shared/stores/audit/audit.ts';
import { type Commands, script } from '../connection/connection.ts';
import { openEntries, type UpTo } from './closing.ts';
import { logKeys, redisLinks } from './links.ts';
import { redisRefusals } from './refusals.ts';
import { byKey, INDEX, indexesOf, rowsIn } from './rows.ts';
import type { AuditStreams } from './streams.ts';

/**
 * KEYS: head, rows, links, times of the links, all indexes. ARGV: the start of the names of indexes, number, link, its time,
 * the positions in the streams, each key with its seqs as JSON, and of each row its seq and text.
 */
const close = script(`${INDEX}
if tonumber(redis.call('HGET', KEYS[1], 'number') or 0) ~= ARGV[2] - 1 then return 0 end
redis.call('HSET', KEYS[1], 'number', ARGV[2], 'link', ARGV[3], 'positions', ARGV[5])
redis.call('XADD', KEYS[3], ARGV[2] .. '-0', 'link', ARGV[3])
redis.call('ZADD', KEYS[4], ARGV[4], ARGV[2])
for n = 7, #ARGV, 2 do redis.call('XADD', KEYS[2], ARGV[n] .. '-0', 'text', ARGV[n + 1]) end
index(ARGV[1], ARGV[6])
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

/** The keys of a log in one slot beside those of its links: all rows with their indexes, and the counts of refusals. */
export const oneSlotKeys = (prefix: string) => {
  const { keyOf } = logKeys(prefix);
  return { rows: keyOf('rows'), by: keyOf('by:'), refused: keyOf('refused') };
};

/**
 * The log of a store whose people have one slot: it has a slot of its own, `{prefix:audit}`, for all but the open entries. How
 * far these are closed is written with the rows, so that each entry becomes one row, even if a process ends before it has
 * trimmed the streams. `in-slots.ts` is the log of the newest layout.
 */
export function redisAudit(redis: Commands, prefix: string, streams: AuditStreams): Audit {
  const { head, links, times, turn } = logKeys(prefix);
  const { refused, ...keys } = oneSlotKeys(prefix);
  const open = openEntries(redis, streams, turn);

  return {
    ...open.verbs,
    ...redisRefusals(redis, streams, { all: [refused], of: () => refused }),
    ...redisLinks(redis, links),

    async open() {
      const fields = ['link', 'positions'];
      const [link, positions = null] = await redis.command<(string | null)[]>(
        'HMGET',
        head,
        ...fields,
      );
      const entries = await open.behind(positions);
      return { ...entries, head: link ? (JSON.parse(link) as AuditLink) : undefined };
    },

    async close(link, closed, upTo) {
      const { number, at } = link;
      const until: UpTo = JSON.parse(upTo);
      const kept = JSON.stringify(until.positions);
      const closing = [
        keys.by,
        String(number),
        JSON.stringify(link),
        String(at),
        kept,
        byKey(closed),
      ];
      const written = [head, keys.rows, links, times, ...indexesOf(keys, closed)] as const;
      const texts = closed.flatMap(({ seq, text }) => [String(seq), text]);
      const done = await redis.durable<number>(close, written, ...closing, ...texts);
      if (done === 1) await open.trim(until);
      return done === 1;
    },

    rows: (query, count) => rowsIn(redis, keys, query, count),

    async end({ number }, ended) {
      const ending = [
        keys.by,
        String(number),
        byKey(ended),
        ...ended.map(({ seq }) => String(seq)),
      ];
      const written = [keys.rows, links, times, ...indexesOf(keys, ended)] as const;
      await redis.durable(end, written, ...ending);
    },
  };
}
