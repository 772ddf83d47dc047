import type { AuditLink, IndexedRow } from '#shared/stores/audit/audit.ts';
import { type Commands, script } from '../connection/connection.ts';
import { logKeys } from './links.ts';

/**
 * KEYS: head, rows to file. ARGV: number, link, the positions in the streams, the last seq that is shown, rows as JSON. Replies
 * with the attempt, which is higher than all before it, also if Redis forgets this one.
 */
const commit = script(`
local head = KEYS[1]
if tonumber(redis.call('HGET', head, 'number') or 0) ~= ARGV[1] - 1 then return false end
if redis.call('EXISTS', KEYS[2]) == 1 then return false end
local time = redis.call('TIME')
local former = tonumber(redis.call('HGET', head, 'attempt') or 0)
local attempt = string.format('%.0f', math.max(time[1] * 1000000 + time[2], former + 1))
redis.call('HSET', head, 'number', ARGV[1], 'link', ARGV[2], 'positions', ARGV[3], 'shown', ARGV[4], 'attempt', attempt)
redis.call('SET', KEYS[2], ARGV[5])
return attempt
`);

/** KEYS: head. ARGV: attempt, and the one that replaces it. 0: it is not the last one. */
const raise = script(`
if redis.call('HGET', KEYS[1], 'attempt') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'attempt', ARGV[2])
return 1
`);

/**
 * KEYS: head, rows to file, links. ARGV: attempt, number, link, its last seq. 0: neither this process nor another has shown it, as
 * Redis has forgotten it, or it has ended.
 */
const show = script(`
local id = ARGV[2] .. '-0'
if redis.call('HGET', KEYS[1], 'attempt') == ARGV[1] and redis.call('DEL', KEYS[2]) == 1 then
  redis.call('HSET', KEYS[1], 'shown', ARGV[4])
  redis.call('XADD', KEYS[3], id, 'link', ARGV[3])
end
local shown = redis.call('XRANGE', KEYS[3], id, id)[1]
return shown and shown[2][2] == ARGV[3] and 1 or 0
`);

/** KEYS: head, links, rows to remove. ARGV: number, the last seq, rows as JSON. 0: it is not there, or another one is removed. */
const hide = script(`
local id = ARGV[1] .. '-0'
if redis.call('EXISTS', KEYS[3]) == 1 or #redis.call('XRANGE', KEYS[2], id, id) == 0 then return 0 end
redis.call('XDEL', KEYS[2], id)
redis.call('HSET', KEYS[1], 'ended', math.max(tonumber(redis.call('HGET', KEYS[1], 'ended') or 0), ARGV[2]))
redis.call('HSET', KEYS[3], 'number', ARGV[1], 'rows', ARGV[3])
return 1
`);

/** KEYS: rows to remove. ARGV: number. */
const removed = script(`
if redis.call('HGET', KEYS[1], 'number') == ARGV[1] then redis.call('DEL', KEYS[1]) end
`);

/** KEYS: head, rows to file, rows to remove. */
const look = script(`
local head = redis.call('HMGET', KEYS[1], 'link', 'positions', 'attempt')
local removing = redis.call('HMGET', KEYS[3], 'number', 'rows')
return { head[1], head[2], head[3], redis.call('GET', KEYS[2]), removing[1], removing[2] }
`);

export interface Filing {
  readonly link: AuditLink;
  readonly attempt: string;
  readonly rows: readonly IndexedRow[];
}

export interface Removing {
  readonly number: number;
  readonly rows: readonly IndexedRow[];
}

type Packed = readonly [seq: number, text: string, keys: readonly string[]];
const packed = (rows: readonly IndexedRow[]) =>
  JSON.stringify(rows.map(({ seq, text, keys }): Packed => [seq, text, keys]));
const unpacked = (json: string): readonly IndexedRow[] =>
  (JSON.parse(json) as readonly Packed[]).map(([seq, text, keys]) => ({ seq, text, keys }));

/**
 * The steps of a log, each of them one script. A link is committed together with its rows, and it is hidden together with them
 * before it ends: a process that is stopped while it writes in the slots of the rows leaves all that another needs to go on.
 */
export function auditJournal(redis: Commands, prefix: string) {
  const { head, links, keyOf } = logKeys(prefix);
  const [filing, removing] = [keyOf('filing'), keyOf('removing')];

  return {
    /** Resolves to the attempt; undefined: there is such a link, or another one has to be filed first. */
    async commit(link: AuditLink, rows: readonly IndexedRow[], positions: string) {
      const { number, first } = link;
      const args = [String(number), JSON.stringify(link), positions, String(first - 1)];
      const attempt = await redis.durable<string | null>(
        commit,
        [head, filing],
        ...args,
        packed(rows),
      );
      return attempt ?? undefined;
    },

    /** Makes an attempt a later one. False: there was another one meanwhile. */
    async raise({ attempt }: Filing, later: string): Promise<boolean> {
      return (await redis.durable<number>(raise, [head], attempt, later)) === 1;
    },

    /** From now on readers see the link and its rows, which are all filed. False: Redis has forgotten it, or it has ended. */
    async show({ link, attempt }: Filing): Promise<boolean> {
      const { number, last } = link;
      const args = [String(number), JSON.stringify(link), String(last)];
      return (await redis.durable<number>(show, [head, filing, links], attempt, ...args)) === 1;
    },

    /** From now on readers see neither the link nor its rows. False: it is not there, or another one is removed. */
    async hide({ number, last }: AuditLink, rows: readonly IndexedRow[]): Promise<boolean> {
      const keys = [head, links, removing] as const;
      const args = [String(number), String(last), packed(rows)];
      return (await redis.durable<number>(hide, keys, ...args)) === 1;
    },

    /** All rows are removed. */
    async removed({ number }: Removing): Promise<void> {
      await redis.durable(removed, [removing], String(number));
    },

    /** Returns the last link, how far the streams are closed, and what is under way. */
    async look() {
      const keys = [head, filing, removing] as const;
      const found = await redis.script<(string | null)[]>(look, keys);
      const [text, positions = null, attempt, toFile, number, toRemove] = found;
      const link = text ? (JSON.parse(text) as AuditLink) : undefined;
      return {
        link,
        positions,
        filing:
          link && attempt && toFile && ({ link, attempt, rows: unpacked(toFile) } satisfies Filing),
        removing:
          number &&
          toRemove &&
          ({ number: Number(number), rows: unpacked(toRemove) } satisfies Removing),
      };
    },

    /** Returns the last seq that has ended, the last that is shown, and that of the last link. */
    async bounds() {
      const fields = ['link', 'ended', 'shown'];
      const found = await redis.command<(string | null)[]>('HMGET', head, ...fields);
      const [text, ended, shown] = found;
      const last = text ? (JSON.parse(text) as AuditLink).last : 0;
      // A store that was moved to slots has no `shown` until its next link.
      return { ended: Number(ended ?? 0), shown: Number(shown ?? last), last };
    },
  };
}
