import { NEWS_LIFE } from '#shared/stores/push/push.ts';
import type { Slots } from '../connection/slots.ts';

/**
 * The keys of a push service. A subscription, its messages and the receipt subscriptions that were opened at it are in one
 * slot: the ids of these begin as its own does (`Push.beginningOf`). The keys, below `SLOT:push`:
 *
 * | key | what |
 * |---|---|
 * | `:subscriptions` | a hash, id to JSON |
 * | `:resources` | in the slot of a push resource: a hash, push resource to subscription |
 * | `:order` | in the slot of a person: the places of their subscriptions (`connection/places.ts`) |
 * | `:places` | a hash, subscription to its last place |
 * | `:messages:{subscription}` | a sorted set of message ids by their places; some may have expired |
 * | `:topics:{subscription}` | a hash, topic to message id |
 * | `:message:{id}` | a hash: subscription, place, urgency, topic, receipts, record, body in base64 |
 * | `:opened:{subscription}` | a set of receipt subscriptions |
 * | `:concluded` | a hash, message to `outcome receipts`: what its receipt subscription is yet to be told |
 * | `:receipts:{id}` | the last place of a receipt subscription, as long as that lives |
 * | `:expected:{receipts}` | a sorted set of message ids by when they expire |
 * | `:told:{receipts}` | a sorted set of `outcome message` by their places |
 * | `:news` | a stream |
 */
export function pushKeysIn(slots: Slots) {
  const baseOf = (id: string) => `${slots.of(id)}:push`;
  const named = (kind: string) => (id: string) => `${baseOf(id)}:${kind}`;
  const each = (kind: string) => (id: string) => `${baseOf(id)}:${kind}:${id}`;
  return {
    /** The keys of a slot by its name, to look through all of them. */
    ofSlot: (slot: string) => ({
      subscriptions: `${slot}:push:subscriptions`,
      concluded: `${slot}:push:concluded`,
    }),
    subscriptions: named('subscriptions'),
    resources: named('resources'),
    places: named('places'),
    messages: each('messages'),
    topics: each('topics'),
    /** `subscription`: it is in the slot of this one. */
    message: (id: string, subscription = id) => `${baseOf(subscription)}:message:${id}`,
    opened: each('opened'),
    concluded: named('concluded'),
    receipts: each('receipts'),
    expected: each('expected'),
    told: each('told'),
    news: named('news'),
  };
}

export type PushKeys = ReturnType<typeof pushKeysIn>;

/** For scripts. Numbers become text by `%.0f`: Lua would write large ones with an exponent. */
export const COMMON_IN_SLOTS = `
local function whole(number) return string.format('%.0f', number) end
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Lets a key live for so many milliseconds at least.
local function keepFor(key, life)
  if redis.call('PTTL', key) < tonumber(life) then redis.call('PEXPIRE', key, whole(life)) end
end

-- Tells all that follow the news of a slot, and forgets those of more than a minute ago.
local function tell(news, about)
  redis.call('XADD', news, 'MINID', '~', whole(now() - ${NEWS_LIFE}), '*', 'of', about)
  redis.call('PEXPIRE', news, ${2 * NEWS_LIFE})
end
`;
