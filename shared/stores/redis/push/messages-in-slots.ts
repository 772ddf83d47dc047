import type { Clock } from '#shared/base/clock.ts';
import {
  type PlacedMessage,
  type Push,
  type PushMessage,
  URGENCIES,
} from '#shared/stores/push/push.ts';
import { type Commands, script } from '../connection/connection.ts';
import { COMMON_IN_SLOTS, type PushKeys } from './keys-in-slots.ts';
import type { ReceiptsInSlots } from './receipts-in-slots.ts';

/**
 * KEYS: subscriptions, places, messages, topics, concluded, news, the message, the one that it replaces. ARGV: id, subscription,
 * milliseconds that it lives, urgency, record, body, topic or '', receipts or '', the most messages, the id of the one that it
 * replaces or ''. `concluded`: it is added, and a receipt of the former is not to come. `changed`: another one has the topic by now. A message has expired when its key has, by the clock of Redis.
 */
const post = script(`${COMMON_IN_SLOTS}
local id, subscription, life, topic, receipts = ARGV[1], ARGV[2], ARGV[3], ARGV[7], ARGV[8]
local most, replaced = tonumber(ARGV[9]), ARGV[10]
local messages, topics, message = KEYS[3], KEYS[4], KEYS[7]
if redis.call('HEXISTS', KEYS[1], subscription) == 0 then return 'ended' end
if topic ~= '' and (redis.call('HGET', topics, topic) or '') ~= replaced then return 'changed' end
local others = redis.call('ZCARD', messages)
if replaced ~= '' and redis.call('ZSCORE', messages, replaced) then others = others - 1 end
if others >= most then return 'full' end

-- Messages that expire leave their topics behind.
if redis.call('HLEN', topics) > most then
  local all = redis.call('HGETALL', topics)
  for at = 1, #all, 2 do
    if not redis.call('ZSCORE', messages, all[at + 1]) then redis.call('HDEL', topics, all[at]) end
  end
end
local former
if replaced ~= '' then
  former = redis.call('HGET', KEYS[8], 'receipts')
  if former then redis.call('HSET', KEYS[5], replaced, ' ' .. former) end
  redis.call('DEL', KEYS[8])
  redis.call('ZREM', messages, replaced)
end

local place = redis.call('HINCRBY', KEYS[2], subscription, 1)
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
if receipts ~= '' then redis.call('HSET', message, 'receipts', receipts) end
tell(KEYS[6], subscription)
return former and 'concluded' or 'added'
`);

/** KEYS: messages, and of some of them. ARGV: their ids. Replies with how many have expired. */
const clean = script(`
local gone = 0
for n, id in ipairs(ARGV) do
  if redis.call('EXISTS', KEYS[1 + n]) == 0 then gone = gone + redis.call('ZREM', KEYS[1], id) end
end
return gone
`);

/** KEYS: the message, the messages and topics of its subscription, concluded. ARGV: id, topic or '', receipts or ''. */
const acknowledge = script(`
if redis.call('DEL', KEYS[1]) == 0 then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
if ARGV[2] ~= '' and redis.call('HGET', KEYS[3], ARGV[2]) == ARGV[1] then
  redis.call('HDEL', KEYS[3], ARGV[2])
end
if ARGV[3] ~= '' then redis.call('HSET', KEYS[4], ARGV[1], 'delivered ' .. ARGV[3]) end
return 1
`);

type Fields = readonly (string | null)[];

/** The fields that a message is read from. */
const READ = ['place', 'record', 'body'] as const;

function rowOf([place, record, body]: Fields): PlacedMessage | undefined {
  if (place == null || record == null || body == null) return undefined;
  const message = JSON.parse(record) as Omit<PushMessage, 'body'>;
  return { ...message, body: Buffer.from(body, 'base64'), place: Number(place) };
}

export function messagesInSlots(
  redis: Commands,
  keys: PushKeys,
  clock: Clock,
  receiptsOf: ReceiptsInSlots,
): Pick<Push, 'post' | 'message' | 'messages' | 'acknowledge'> {
  const find = (id: string, ...names: readonly string[]) =>
    redis.command<Fields>('HMGET', keys.message(id), ...names);

  /** Removes the messages that have expired from the list of a subscription. Resolves to whether there were any. */
  async function freed(subscription: string): Promise<boolean> {
    const messages = keys.messages(subscription);
    const ids = await redis.command<string[]>('ZRANGE', messages, '0', '-1');
    const each = ids.map((id) => keys.message(id, subscription));
    return (await redis.script<number>(clean, [messages, ...each], ...ids)) > 0;
  }

  async function keep({ body, ...record }: PushMessage, life: string, most: number) {
    const { id, subscription, urgency, topic = '', receipts = '' } = record;
    const topics = keys.topics(subscription);
    for (;;) {
      const replaced =
        (topic !== '' && (await redis.command<string | null>('HGET', topics, topic))) || '';
      const outcome = await redis.durable<'added' | 'concluded' | 'ended' | 'full' | 'changed'>(
        post,
        [
          keys.subscriptions(subscription),
          keys.places(subscription),
          keys.messages(subscription),
          topics,
          keys.concluded(subscription),
          keys.news(subscription),
          keys.message(id, subscription),
          keys.message(replaced, subscription),
        ],
        id,
        subscription,
        life,
        String(URGENCIES.indexOf(urgency)),
        JSON.stringify(record),
        body.toString('base64'),
        topic,
        receipts,
        String(most),
        replaced,
      );
      if (outcome === 'changed' || (outcome === 'full' && (await freed(subscription)))) continue;
      if (outcome !== 'concluded') return outcome;
      await receiptsOf.concludeAll(keys.concluded(subscription));
      return 'added';
    }
  }

  return {
    async post(message, limits) {
      const { id, until, receipts } = message;
      const life = Math.max(1, Math.ceil(until - clock.now()));
      if (receipts !== undefined) {
        const expected = await receiptsOf.expect(receipts, id, life, limits.receipts);
        if (expected !== 'added') return expected;
      }
      const outcome = await keep(message, String(life), limits.messages);
      if (receipts !== undefined && outcome !== 'added') await receiptsOf.forget(receipts, id);
      return outcome;
    },

    message: async (id) => rowOf(await find(id, ...READ)),

    async messages(subscription, after, least, most) {
      const found: PlacedMessage[] = [];
      for (let place = String(after); ;) {
        const range = [`(${place}`, '+inf', 'BYSCORE', 'LIMIT', '0', String(most), 'WITHSCORES'];
        const texts = await redis.command<string[]>(
          'ZRANGE',
          keys.messages(subscription),
          ...range,
        );
        const ids = texts.filter((_, n) => n % 2 === 0);
        const rows = await Promise.all(
          ids.map((id) => redis.command<Fields>('HMGET', keys.message(id, subscription), ...READ)),
        );
        const wanted = new Set(URGENCIES.slice(URGENCIES.indexOf(least)));
        const some = rows.flatMap((fields) => rowOf(fields) ?? []);
        found.push(...some.filter(({ urgency }) => wanted.has(urgency)));
        if (ids.length < most || found.length >= most) return found.slice(0, most);
        place = texts.at(-1) ?? place;
      }
    },

    async acknowledge(id) {
      const message = keys.message(id);
      const [subscription, topic, receipts] = await find(id, 'subscription', 'topic', 'receipts');
      if (subscription == null) {
        // An earlier removal may have been answered with a failure.
        await redis.settled(message);
        return false;
      }
      const concluded = keys.concluded(subscription);
      const lists = [keys.messages(subscription), keys.topics(subscription), concluded] as const;
      const written = [message, ...lists] as const;
      const args = [id, topic ?? '', receipts ?? ''];
      if ((await redis.durable<number>(acknowledge, written, ...args)) === 0) {
        await redis.settled(message);
        return false;
      }
      if (receipts != null) await receiptsOf.conclude(concluded, id, `delivered ${receipts}`);
      return true;
    },
  };
}
