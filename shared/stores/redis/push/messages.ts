import type { Clock } from '#shared/base/clock.ts';
import {
  type PlacedMessage,
  type Push,
  type PushMessage,
  RECEIPT_LIFE,
  URGENCIES,
} from '#shared/stores/push/push.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { COMMON } from './names.ts';

/**
 * ARGV: id, subscription, milliseconds that it lives, urgency, record, body, topic or '', receipt subscription or '',
 * and the most messages and receipts. A message has expired when its key has, by the clock of Redis: those of the
 * servers may differ.
 */
const post = script(`${COMMON}
local id, subscription, life = ARGV[1], ARGV[2], ARGV[3]
local topic, receipts, mostMessages, mostReceipts = ARGV[7], ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])
if redis.call('HEXISTS', base .. ':subscriptions', subscription) == 0 then return 'ended' end

local messages, topics = name('messages', subscription), name('topics', subscription)
local replaced = topic ~= '' and redis.call('HGET', topics, topic)
local others = 0
for _, other in ipairs(redis.call('ZRANGE', messages, 0, -1)) do
  if redis.call('EXISTS', name('message', other)) == 0 then
    redis.call('ZREM', messages, other)
  elseif other ~= replaced then
    others = others + 1
  end
end
if others >= mostMessages then return 'full' end

-- Messages that expire leave their topics behind.
if redis.call('HLEN', topics) > mostMessages then
  local all = redis.call('HGETALL', topics)
  for at = 1, #all, 2 do
    if not redis.call('ZSCORE', messages, all[at + 1]) then redis.call('HDEL', topics, all[at]) end
  end
end

local expected = name('expected', receipts)
if receipts ~= '' then
  if redis.call('EXISTS', name('receipts', receipts)) == 0 then return 'no-receipts' end
  local room = mostReceipts - redis.call('ZCARD', name('told', receipts))
  if redis.call('ZCARD', expected) >= room then
    for _, other in ipairs(redis.call('ZRANGE', expected, 0, -1)) do
      if redis.call('EXISTS', name('message', other)) == 0 then redis.call('ZREM', expected, other) end
    end
    if redis.call('ZCARD', expected) >= room then return 'receipts-full' end
  end
end

if replaced then
  local former = redis.call('HGET', name('message', replaced), 'receipts')
  if former then redis.call('ZREM', name('expected', former), replaced) end
  redis.call('DEL', name('message', replaced))
  redis.call('ZREM', messages, replaced)
end

local place = redis.call('INCR', base .. ':place')
local message = name('message', id)
redis.call('HSET', message, 'subscription', subscription, 'place', whole(place),
  'urgency', ARGV[4], 'record', ARGV[5], 'body', ARGV[6])
redis.call('PEXPIRE', message, life)
redis.call('ZADD', messages, place, id)
keepFor(messages, life)
if topic ~= '' then
  redis.call('HSET', message, 'topic', topic)
  redis.call('HSET', topics, topic, id)
  keepFor(topics, life)
end
if receipts ~= '' then
  redis.call('HSET', message, 'receipts', receipts)
  redis.call('ZADD', expected, place, id)
  keepFor(expected, life)
  keepFor(name('receipts', receipts), whole(life + ${RECEIPT_LIFE}))
end
tell(subscription)
return 'added'
`);

/** ARGV: id. Returns place, record and body of a message that has not expired. */
const one = script(`${COMMON}
local place, record, body = unpack(redis.call('HMGET', name('message', ARGV[1]), 'place', 'record', 'body'))
return place and { place, record, body } or {}
`);

/** ARGV: subscription, place, least urgency, how many. Returns what \`one\` does, of each. */
const after = script(`${COMMON}
local found = {}
for _, id in ipairs(redis.call('ZRANGE', name('messages', ARGV[1]), '(' .. ARGV[2], '+inf', 'BYSCORE')) do
  local urgency, place, record, body =
    unpack(redis.call('HMGET', name('message', id), 'urgency', 'place', 'record', 'body'))
  if urgency and tonumber(urgency) >= tonumber(ARGV[3]) then
    found[#found + 1] = place
    found[#found + 1] = record
    found[#found + 1] = body
    if #found >= 3 * tonumber(ARGV[4]) then break end
  end
end
return found
`);

/** ARGV: id. */
const acknowledge = script(`${COMMON}
local message = name('message', ARGV[1])
local subscription, topic, receipts =
  unpack(redis.call('HMGET', message, 'subscription', 'topic', 'receipts'))
if not subscription then return 0 end
redis.call('DEL', message)
redis.call('ZREM', name('messages', subscription), ARGV[1])
if topic then redis.call('HDEL', name('topics', subscription), topic) end
conclude(ARGV[1], receipts, 'delivered')
return 1
`);

export function placed([place, record, body]: readonly string[]): PlacedMessage | undefined {
  if (place === undefined || record === undefined || body === undefined) return undefined;
  const message = JSON.parse(record) as Omit<PushMessage, 'body'>;
  return { ...message, body: Buffer.from(body, 'base64'), place: Number(place) };
}

export function redisMessages(
  redis: Commands,
  base: string,
  clock: Clock,
): Pick<Push, 'post' | 'message' | 'messages' | 'acknowledge'> {
  return {
    post({ body, ...record }, limits) {
      const { id, subscription, until, urgency, topic = '', receipts = '' } = record;
      return redis.durable(
        post,
        [base],
        id,
        subscription,
        String(Math.max(1, Math.ceil(until - clock.now()))),
        String(URGENCIES.indexOf(urgency)),
        JSON.stringify(record),
        body.toString('base64'),
        topic,
        receipts,
        String(limits.messages),
        String(limits.receipts),
      );
    },

    message: async (id) => placed(await redis.script<string[]>(one, [base], id)),

    async messages(subscription, place, least, most) {
      const found = await redis.script<string[]>(
        after,
        [base],
        subscription,
        String(place),
        String(URGENCIES.indexOf(least)),
        String(most),
      );
      const rows = Array.from({ length: found.length / 3 }, (_, n) =>
        placed(found.slice(3 * n, 3 * n + 3)),
      );
      return rows.filter((row) => row !== undefined);
    },

    async acknowledge(id) {
      const removed = (await redis.durable<number>(acknowledge, [base], id)) === 1;
      // An earlier removal may have been answered with a failure.
      if (!removed) await redis.settled(base);
      return removed;
    },
  };
}
