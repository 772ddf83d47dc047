import type { Outbox, OutboxMessage, TakenMessage } from '#shared/stores/mail/outbox.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';

/** KEYS: messages, when they are due. ARGV: id, record, when it is due. */
const add = script(`
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return 1
`);

/** KEYS: messages, when they are due, attempts. ARGV: now, until when they are taken, how many at most. */
const take = script(`
local taken = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[3])) do
  redis.call('ZADD', KEYS[2], ARGV[2], id)
  taken[#taken + 1] = redis.call('HGET', KEYS[1], id)
  taken[#taken + 1] = tostring(redis.call('HINCRBY', KEYS[3], id, 1))
end
return taken
`);

/** KEYS: when they are due. ARGV: id, when. */
const postpone = script(`return redis.call('ZADD', KEYS[1], 'XX', ARGV[2], ARGV[1])`);

/** KEYS: messages, when they are due, attempts. ARGV: id. */
const remove = script(`
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
return redis.call('HDEL', KEYS[1], ARGV[1])
`);

/**
 * The hash `{prefix}:outbox`, id to JSON; the sorted set `{prefix}:outbox:due`; the hash `{prefix}:outbox:attempts`. In the
 * slot of the revocations, so that a message is as durable as they are.
 */
export function redisOutbox(redis: Commands, prefix: string): Outbox {
  const messages = `{${prefix}}:outbox`;
  const due = `{${prefix}}:outbox:due`;
  const attempts = `{${prefix}}:outbox:attempts`;

  return {
    async add(message) {
      const { id, created_at, due: at = created_at } = message;
      const keys = [messages, due] as const;
      const record = JSON.stringify(message);
      const added = await redis.durable<number>(add, keys, id, record, String(at));
      if (added === 0) await redis.settled(messages);
      return added === 1;
    },

    async take(now, until, count) {
      // Most of the time none is due: that waits for no replica.
      const some = ['ZRANGE', due, '-inf', String(now), 'BYSCORE', 'LIMIT', '0', '1'] as const;
      if ((await redis.command<string[]>(...some)).length === 0) return [];
      const keys = [messages, due, attempts] as const;
      const times = [now, until, count].map(String);
      const found = await redis.durable<string[]>(take, keys, ...times);
      const taken: TakenMessage[] = [];
      for (let at = 0; at < found.length; at += 2) {
        const message = JSON.parse(found[at] ?? '') as OutboxMessage;
        taken.push({ ...message, attempt: Number(found[at + 1]) });
      }
      return taken;
    },

    async postpone(id, at) {
      await redis.durable(postpone, [due], id, String(at));
    },

    async remove(id) {
      await redis.durable(remove, [messages, due, attempts], id);
    },
  };
}
