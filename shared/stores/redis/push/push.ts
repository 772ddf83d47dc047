import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { personText } from '#shared/stores/people/new-passkey.ts';
import { type Push, type PushSubscription, SOME } from '#shared/stores/push/push.ts';
import { type Commands, script } from '../connection/connection.ts';
import { ATTEMPTS, LATE, redisPlaces, type Stamped } from '../connection/places.ts';
import type { Slots } from '../connection/slots.ts';
import { COMMON_IN_SLOTS, pushKeysIn } from './keys-in-slots.ts';
import { messagesInSlots } from './messages-in-slots.ts';
import { newsInSlots } from './news-in-slots.ts';
import { receiptsInSlots } from './receipts-in-slots.ts';

/** KEYS: subscriptions. ARGV: id, record, stamp. */
const subscribe = script(`${LATE}
if late(ARGV[3]) then return 'late' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 'added'
`);

/** KEYS: resources, subscriptions of the same slot. ARGV: push resource. */
const ofResource = script(`
local id = redis.call('HGET', KEYS[1], ARGV[1])
return id and { id, redis.call('HGET', KEYS[2], id) } or {}
`);

/**
 * KEYS: subscriptions, places, messages, topics, opened, concluded, news, each message. ARGV: id, the ids of the messages. -1: it has
 * other messages by now.
 */
const unsubscribe = script(`${COMMON_IN_SLOTS}
local messages = redis.call('ZRANGE', KEYS[3], 0, -1)
if #messages ~= #ARGV - 1 then return -1 end
for n, id in ipairs(messages) do
  if id ~= ARGV[1 + n] then return -1 end
end
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HDEL', KEYS[2], ARGV[1])
for n, id in ipairs(messages) do
  local receipts = redis.call('HGET', KEYS[7 + n], 'receipts')
  if receipts then redis.call('HSET', KEYS[6], id, 'gone ' .. receipts) end
  redis.call('DEL', KEYS[7 + n])
end
redis.call('DEL', KEYS[3], KEYS[4], KEYS[5])
tell(KEYS[7], ARGV[1])
return 1
`);

/** Digits that any number of milliseconds has room in. */
const DIGITS = 16;

const ageOf = ({ created_at }: PushSubscription) => String(created_at).padStart(DIGITS, '0');

function stamped(text: string): Stamped<PushSubscription> {
  const { stamp, ...thing } = JSON.parse(text) as PushSubscription & { readonly stamp: string };
  return { thing, stamp };
}

export function redisPush(redis: Commands, slots: Slots, clock: Clock, random: Random): Push {
  const keys = pushKeysIn(slots);
  const receipts = receiptsInSlots(redis, keys, clock);

  async function textOf(id: string): Promise<Stamped<PushSubscription> | undefined> {
    const text = await redis.command<string | null>('HGET', keys.subscriptions(id), id);
    return text === null ? undefined : stamped(text);
  }

  async function find(ids: readonly string[]) {
    const found = await Promise.all(ids.map(textOf));
    return new Map(found.flatMap((one) => (one ? [[one.thing.id, one] as const] : [])));
  }
  const places = redisPlaces(redis, slots, { name: 'push:order', random, find });
  const placeOf = (one: PushSubscription) => [personText(one.person), ageOf(one), one.id] as const;

  return {
    ...messagesInSlots(redis, keys, clock, receipts),
    openReceipts: receipts.openReceipts,
    hasReceipts: receipts.hasReceipts,
    closeReceipts: receipts.closeReceipts,
    receipts: receipts.receipts,
    forgetReceipt: receipts.forgetReceipt,
    ...newsInSlots(redis, keys),
    beginningOf: (id) => slots.beginningOf(id),

    async subscribe(subscription, most) {
      const { id, push } = subscription;
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const stamp = await places.take(...placeOf(subscription), most);
        if (stamp === undefined) return 'full';
        const args = [id, JSON.stringify({ ...subscription, stamp }), stamp];
        const outcome = await redis.durable<string>(subscribe, [keys.subscriptions(id)], ...args);
        if (outcome === 'added') {
          // Nobody knows the push resource before this has resolved.
          await redis.durableCommand('HSET', keys.resources(push), push, id);
          return 'added';
        }
        await places.leave(...placeOf(subscription), stamp);
      }
      throw new StoreUnavailable('the clocks of two masters of Redis differ by minutes');
    },

    subscription: async (id) => (await textOf(id))?.thing,

    async subscriptionOf(push) {
      const here = [keys.resources(push), keys.subscriptions(push)] as const;
      const [id, text] = await redis.script<(string | null)[]>(ofResource, here, push);
      if (id == null) return undefined;
      return text == null ? (await textOf(id))?.thing : stamped(text).thing;
    },

    subscriptionsOf: (person) => places.of(personText(person)),

    async someSubscriptions(cursor = '0 0') {
      const [at = '', from = ''] = cursor.split(' ');
      const slot = Number(at);
      const { subscriptions: name, concluded } = keys.ofSlot(slots.all[slot] ?? '');
      if (from === '0') await receipts.concludeAll(concluded);
      const some = [from, 'COUNT', String(SOME)];
      const [next, found] = await redis.command<[string, string[]]>('HSCAN', name, ...some);
      const isLast = next === '0' && slot + 1 === slots.all.length;
      return {
        // Ids and records in turn.
        subscriptions: found.flatMap((text, n) => (n % 2 === 1 ? stamped(text).thing : [])),
        cursor: isLast ? undefined : next === '0' ? `${slot + 1} 0` : `${slot} ${next}`,
      };
    },

    async unsubscribe(id) {
      const found = await textOf(id);
      if (found === undefined) {
        // An earlier removal may have been answered with a failure.
        await redis.settled(keys.subscriptions(id));
        return false;
      }
      const { thing, stamp } = found;
      // Before the record: whoever is killed in between leaves all that the next attempt needs.
      await redis.command('HDEL', keys.resources(thing.push), thing.push);
      for (;;) {
        const ids = await redis.command<string[]>('ZRANGE', keys.messages(id), '0', '-1');
        const removed = await redis.durable<number>(
          unsubscribe,
          [
            keys.subscriptions(id),
            keys.places(id),
            keys.messages(id),
            keys.topics(id),
            keys.opened(id),
            keys.concluded(id),
            keys.news(id),
            ...ids.map((each) => keys.message(each, id)),
          ],
          id,
          ...ids,
        );
        if (removed === -1) continue;
        if (ids.length > 0) await receipts.concludeAll(keys.concluded(id));
        await places.leave(...placeOf(thing), stamp);
        return removed === 1;
      }
    },
  };
}
