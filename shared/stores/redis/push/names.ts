import { NEWS_LIFE, RECEIPT_LIFE } from '#shared/stores/push/push.ts';

/**
 * In a store of before slots all that a push service keeps is in one of them, and one script reads and writes all of it. The keys,
 * below `SLOT:push`:
 *
 * | key | what |
 * |---|---|
 * | `:subscriptions` | a hash, id to JSON |
 * | `:resources` | a hash, push resource to id |
 * | `:person:{person}` | a set of ids |
 * | `:messages:{subscription}` | a sorted set of message ids by their places |
 * | `:topics:{subscription}` | a hash, topic to message id |
 * | `:message:{id}` | a hash: subscription, place, urgency, topic, receipts, record, body in base64 |
 * | `:opened:{subscription}` | a set of receipt subscriptions |
 * | `:receipts:{id}` | exists as long as the receipt subscription |
 * | `:expected:{receipts}` | a sorted set of message ids by their places |
 * | `:told:{receipts}` | a sorted set of `outcome message` by their places |
 * | `:place` | the last place |
 * | `:news` | a stream |
 */
export const pushKeys = (slot: string): string => `${slot}:push`;

/**
 * All scripts begin with these functions. KEYS[1]: `pushKeys`. Numbers become text by `%.0f`: Lua would write large ones with an
 * exponent.
 */
export const COMMON = `
local base = KEYS[1]
local function name(kind, id) return base .. ':' .. kind .. ':' .. id end
local function whole(number) return string.format('%.0f', number) end

-- Lets a key live for so many milliseconds at least.
local function keepFor(key, life)
  if redis.call('PTTL', key) < tonumber(life) then redis.call('PEXPIRE', key, life) end
end

-- Tells whoever follows the news, and forgets those of more than a minute ago.
local function tell(about)
  local oldest = whole(redis.call('TIME')[1] * 1000 - ${NEWS_LIFE})
  redis.call('XADD', base .. ':news', 'MINID', '~', oldest, '*', 'of', about)
end

-- Keeps what became of a message, if a receipt was asked for.
local function conclude(message, receipts, outcome)
  if not receipts then return end
  redis.call('ZREM', name('expected', receipts), message)
  if redis.call('EXISTS', name('receipts', receipts)) == 0 then return end
  local told = name('told', receipts)
  redis.call('ZADD', told, redis.call('INCR', base .. ':place'), outcome .. ' ' .. message)
  keepFor(told, ${RECEIPT_LIFE})
  keepFor(name('receipts', receipts), ${RECEIPT_LIFE})
  tell(receipts)
end
`;
