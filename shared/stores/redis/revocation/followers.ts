import type { Followers } from '../../revocation/followers.ts';
import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import { lastEntry } from './feed-questions.ts';
import {
  type Entries,
  type EntryId,
  isEntryId,
  revocationKeys,
  STREAM_START,
  streamEntry,
} from './revocation-stream.ts';
import { precedes } from '../../revocation/feed-position.ts';

/** The field of the hash that says in which memory all is settled; no id of a process is so short. */
const SETTLED = 'settled';

/** KEYS: stream, epoch, followed. */
const look = script(`${lastEntry}
return { redis.call('GET', KEYS[2]), last, redis.call('HGETALL', KEYS[3]) }
`);

/** KEYS: epoch, followed. ARGV: epoch, id, row. */
const put = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return 1
`);

/** KEYS: followed. ARGV: id, row. */
const remove = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
`);

/** KEYS: stream, epoch. ARGV: number of entries, epoch and entry of a position. */
const page = script(`${lastEntry}
local function number(id, part) return tonumber(string.match(id, part)) end
local function precedes(a, b)
  local first, second = number(a, '^%d+'), number(b, '^%d+')
  if first ~= second then return first < second end
  return number(a, '%d+$') < number(b, '%d+$')
end
local epoch = redis.call('GET', KEYS[2])
local after = ARGV[3]
if epoch ~= ARGV[2] or precedes(last, after) then after = '${STREAM_START}' end
return { epoch, last, redis.call('XRANGE', KEYS[1], '(' .. after, '+', 'COUNT', ARGV[1]) }
`);

/** Followers use the three keys of revocation and `:followed`, all in the same slot. */
export function redisFollowers(redis: Connection, prefix: string): Followers {
  const { stream, epoch: epochKey } = revocationKeys(prefix);
  const followed = `{${prefix}}:followed`;
  const text = ({ confirmed, lease, beat }: Parameters<Followers['remove']>[0]) =>
    `${confirmed} ${lease} ${beat}`;

  return {
    async look() {
      const keys = [stream, epochKey, followed] as const;
      const reply = await redis.script<[string | null, EntryId, string[]]>(look, keys);
      const [epoch, last, hash] = reply;
      const processes = [];
      let settled = false;
      for (let n = 0; n + 1 < hash.length; n += 2) {
        const [id = '', value = ''] = [hash[n], hash[n + 1]];
        const [confirmed = '', lease, beat] = value.split(' ');
        if (id === SETTLED) settled = value === (epoch ?? '');
        else processes.push({ id, confirmed, lease: Number(lease), beat: Number(beat) });
      }
      return { epoch: epoch ?? undefined, last, processes, settled };
    },

    async put(process, epoch) {
      const keys = [epochKey, followed] as const;
      return (await redis.durable<number>(put, keys, epoch, process.id, text(process))) === 1;
    },

    async remove(process) {
      await redis.durable(remove, [followed], process.id, text(process));
    },

    async settle(epoch) {
      await redis.durableCommand('HSET', followed, SETTLED, epoch ?? '');
    },

    async page(after, count) {
      const known = after !== undefined && isEntryId(after.entry) ? after : undefined;
      const [epoch, last, entries] = await redis.script<[string | null, EntryId, Entries]>(
        page,
        [stream, epochKey],
        String(count),
        known?.epoch ?? '',
        known?.entry ?? STREAM_START,
      );
      const complete = entries.length < count;
      const end = entries.at(-1)?.[0] ?? STREAM_START;
      return {
        epoch: epoch ?? undefined,
        last: complete && precedes(end, last) ? last : end,
        complete,
        entries: entries.flatMap(([, fields]) => {
          const entry = streamEntry(fields);
          return entry.kind === 'epoch' ? [] : entry;
        }),
      };
    },
  };
}
