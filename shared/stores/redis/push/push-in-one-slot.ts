import type { Clock } from '#shared/base/clock.ts';
import { type Push, type PushSubscription, SOME } from '#shared/stores/push/push.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { redisMessages } from './messages.ts';
import { COMMON, pushKeys } from './names.ts';
import { redisNews } from './news.ts';
import { redisReceipts } from './receipts.ts';

/** ARGV: id, push resource, person, record, `most`. */
const subscribe = script(`${COMMON}
local theirs = name('person', ARGV[3])
if redis.call('SCARD', theirs) >= tonumber(ARGV[5]) then return 'full' end
redis.call('HSET', base .. ':subscriptions', ARGV[1], ARGV[4])
redis.call('HSET', base .. ':resources', ARGV[2], ARGV[1])
redis.call('SADD', theirs, ARGV[1])
return 'added'
`);

/** ARGV: person. */
const ofPerson = script(`${COMMON}
local ids = redis.call('SMEMBERS', name('person', ARGV[1]))
if #ids == 0 then return {} end
return redis.call('HMGET', base .. ':subscriptions', unpack(ids))
`);

/** ARGV: push resource. */
const ofResource = script(`${COMMON}
local id = redis.call('HGET', base .. ':resources', ARGV[1])
return id and redis.call('HGET', base .. ':subscriptions', id)
`);

/** ARGV: id, push resource, person. */
const unsubscribe = script(`${COMMON}
if redis.call('HDEL', base .. ':subscriptions', ARGV[1]) == 0 then return 0 end
redis.call('HDEL', base .. ':resources', ARGV[2])
redis.call('SREM', name('person', ARGV[3]), ARGV[1])
local messages = name('messages', ARGV[1])
for _, id in ipairs(redis.call('ZRANGE', messages, 0, -1)) do
  local message = name('message', id)
  conclude(id, redis.call('HGET', message, 'receipts'), 'gone')
  redis.call('DEL', message)
end
redis.call('DEL', messages, name('topics', ARGV[1]), name('opened', ARGV[1]))
tell(ARGV[1])
return 1
`);

const parsed = (record: string): PushSubscription => JSON.parse(record);

const byAge = (one: PushSubscription, other: PushSubscription) =>
  one.created_at - other.created_at || (one.id < other.id ? -1 : 1);

export function pushInOneSlot(redis: Commands, slot: string, clock: Clock): Push {
  const base = pushKeys(slot);
  const find = async (id: string) => {
    const record = await redis.command<string | null>('HGET', `${base}:subscriptions`, id);
    return record === null ? undefined : parsed(record);
  };

  return {
    ...redisMessages(redis, base, clock),
    ...redisReceipts(redis, base, clock),
    ...redisNews(redis, base),
    beginningOf: () => '',

    subscribe: (subscription, most) =>
      redis.durable(
        subscribe,
        [base],
        subscription.id,
        subscription.push,
        subscription.person,
        JSON.stringify(subscription),
        String(most),
      ),

    subscription: find,
    async subscriptionOf(push) {
      const record = await redis.script<string | null>(ofResource, [base], push);
      return record === null ? undefined : parsed(record);
    },
    async subscriptionsOf(person) {
      const records = await redis.script<string[]>(ofPerson, [base], person);
      return records.map(parsed).toSorted(byAge);
    },

    async someSubscriptions(cursor = '0') {
      const [next, found] = await redis.command<[string, string[]]>(
        'HSCAN',
        `${base}:subscriptions`,
        cursor,
        'COUNT',
        String(SOME),
      );
      // Ids and records in turn.
      const subscriptions = found.filter((_, n) => n % 2 === 1).map(parsed);
      return { subscriptions, cursor: next === '0' ? undefined : next };
    },

    async unsubscribe(id) {
      const found = await find(id);
      const removed =
        found !== undefined &&
        (await redis.durable<number>(unsubscribe, [base], id, found.push, found.person)) === 1;
      // An earlier removal may have been answered with a failure.
      if (!removed) await redis.settled(base);
      return removed;
    },
  };
}
