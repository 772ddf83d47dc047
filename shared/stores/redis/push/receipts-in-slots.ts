import type { Clock } from '#shared/base/clock.ts';
import { type Push, type Receipt, RECEIPT_LIFE } from '#shared/stores/push/push.ts';
import { type Commands, script } from '../connection/connection.ts';
import { COMMON_IN_SLOTS, type PushKeys } from './keys-in-slots.ts';

/**
 * KEYS: subscriptions, what was opened at this one, the receipt subscription, the others that were. ARGV: id, subscription,
 * milliseconds that it lives, `most`, the others. Those that have ended are dropped.
 */
const open = script(`
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then return 'ended' end
if redis.call('SCARD', KEYS[2]) ~= #ARGV - 4 then return 'changed' end
for n = 5, #ARGV do
  if redis.call('SISMEMBER', KEYS[2], ARGV[n]) == 0 then return 'changed' end
end
for n = 5, #ARGV do
  if redis.call('EXISTS', KEYS[n - 1]) == 0 then redis.call('SREM', KEYS[2], ARGV[n]) end
end
if redis.call('SCARD', KEYS[2]) >= tonumber(ARGV[4]) then return 'full' end
redis.call('SET', KEYS[3], '0', 'PX', ARGV[3])
redis.call('SADD', KEYS[2], ARGV[1])
return 'added'
`);

/** KEYS: the receipt subscription, what it expects, what it was told, news. ARGV: id. */
const close = script(`${COMMON_IN_SLOTS}
local there = redis.call('DEL', KEYS[1])
redis.call('DEL', KEYS[2], KEYS[3])
if there == 1 then tell(KEYS[4], ARGV[1]) end
return there
`);

/** Milliseconds for which it is known that a message was expected, after that expired: a process may be late to tell. */
const LATE = 3_600_000;

/** The same KEYS. ARGV: message, milliseconds that it lives, the most receipts. */
const expect = script(`${COMMON_IN_SLOTS}
if redis.call('EXISTS', KEYS[1]) == 0 then return 'no-receipts' end
local life, time = tonumber(ARGV[2]), now()
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', whole(time - ${LATE}))
local waiting = redis.call('ZCOUNT', KEYS[2], whole(time), '+inf')
if waiting + redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[3]) then return 'receipts-full' end
redis.call('ZADD', KEYS[2], whole(time + life), ARGV[1])
keepFor(KEYS[2], life + ${LATE})
keepFor(KEYS[1], life + ${RECEIPT_LIFE})
return 'added'
`);

/** The same KEYS. ARGV: message, outcome or '', receipt subscription. It is told once, and not after it was closed. */
const conclude = script(`${COMMON_IN_SLOTS}
if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 or ARGV[2] == '' then return end
if redis.call('EXISTS', KEYS[1]) == 0 then return end
redis.call('ZADD', KEYS[3], redis.call('INCR', KEYS[1]), ARGV[2] .. ' ' .. ARGV[1])
keepFor(KEYS[3], ${RECEIPT_LIFE})
keepFor(KEYS[1], ${RECEIPT_LIFE})
tell(KEYS[4], ARGV[3])
`);

const OUTCOMES: readonly Receipt['outcome'][] = ['delivered', 'gone'];

type Verbs = 'openReceipts' | 'hasReceipts' | 'closeReceipts' | 'receipts' | 'forgetReceipt';

export interface ReceiptsInSlots extends Pick<Push, Verbs> {
  /** Notes that a message is to have a receipt. */
  expect(
    id: string,
    message: string,
    life: number,
    most: number,
  ): Promise<'added' | 'no-receipts' | 'receipts-full'>;
  /** Tells what became of a message. `text`: as it stands in that hash of concluded ones. */
  conclude(concluded: string, message: string, text: string): Promise<void>;
  /** Tells all of a slot that is not told yet: a process may have been killed before it could. */
  concludeAll(concluded: string): Promise<void>;
  /** Takes it back: the message did not come about. */
  forget(id: string, message: string): Promise<void>;
}

export function receiptsInSlots(redis: Commands, keys: PushKeys, clock: Clock): ReceiptsInSlots {
  const keysOf = (id: string) =>
    [keys.receipts(id), keys.expected(id), keys.told(id), keys.news(id)] as const;

  async function tellOf(concluded: string, message: string, text: string): Promise<void> {
    const [outcome = '', receipts = ''] = text.split(' ');
    await redis.durable(conclude, keysOf(receipts), message, outcome, receipts);
    await redis.command('HDEL', concluded, message);
  }

  return {
    async openReceipts({ id, subscription, until }, most) {
      const opened = keys.opened(subscription);
      for (;;) {
        const others = await redis.command<string[]>('SMEMBERS', opened);
        const all = [id, ...others].map(keys.receipts);
        const outcome = await redis.durable<'added' | 'full' | 'ended' | 'changed'>(
          open,
          [keys.subscriptions(subscription), opened, ...all],
          id,
          subscription,
          String(Math.max(1, Math.floor(until - clock.now()))),
          String(most),
          ...others,
        );
        if (outcome !== 'changed') return outcome;
      }
    },

    hasReceipts: async (id) => (await redis.command<number>('EXISTS', keys.receipts(id))) === 1,

    async closeReceipts(id) {
      const removed = (await redis.durable<number>(close, keysOf(id), id)) === 1;
      // An earlier removal may have been answered with a failure.
      if (!removed) await redis.settled(keys.receipts(id));
      return removed;
    },

    async receipts(id, after, most) {
      // Receipts and their places in turn.
      const range = [`(${after}`, '+inf', 'BYSCORE', 'LIMIT', '0', String(most), 'WITHSCORES'];
      const found = await redis.command<string[]>('ZRANGE', keys.told(id), ...range);
      return found.flatMap((text, n) => {
        const [outcome, message] = text.split(' ');
        const known = OUTCOMES.find((one) => one === outcome);
        return n % 2 === 0 && known && message !== undefined
          ? { message, outcome: known, place: Number(found[n + 1]) }
          : [];
      });
    },

    async forgetReceipt(id, message) {
      const texts = OUTCOMES.map((outcome) => `${outcome} ${message}`);
      await redis.command('ZREM', keys.told(id), ...texts);
    },

    expect: (id, message, life, most) =>
      redis.durable(expect, keysOf(id), message, String(life), String(most)),

    conclude: tellOf,

    async concludeAll(concluded) {
      const found = await redis.command<string[]>('HGETALL', concluded);
      for (let n = 0; n < found.length; n += 2) {
        const [message = '', text = ''] = found.slice(n, n + 2);
        await tellOf(concluded, message, text);
      }
    },

    async forget(id, message) {
      await redis.command('ZREM', keys.expected(id), message);
    },
  };
}
