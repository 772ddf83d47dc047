import type { Clock } from '#shared/base/clock.ts';
import type { Push, Receipt } from '#shared/stores/push/push.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { COMMON } from './names.ts';

/** ARGV: id, subscription, milliseconds that it lives, `most`. Receipt subscriptions that have ended are dropped. */
const open = script(`${COMMON}
if redis.call('HEXISTS', base .. ':subscriptions', ARGV[2]) == 0 then return 'ended' end
local opened = name('opened', ARGV[2])
for _, id in ipairs(redis.call('SMEMBERS', opened)) do
  if redis.call('EXISTS', name('receipts', id)) == 0 then redis.call('SREM', opened, id) end
end
if redis.call('SCARD', opened) >= tonumber(ARGV[4]) then return 'full' end
redis.call('SET', name('receipts', ARGV[1]), '', 'PX', ARGV[3])
redis.call('SADD', opened, ARGV[1])
return 'added'
`);

/** ARGV: id. */
const close = script(`${COMMON}
local there = redis.call('DEL', name('receipts', ARGV[1]))
redis.call('DEL', name('told', ARGV[1]), name('expected', ARGV[1]))
if there == 1 then tell(ARGV[1]) end
return there
`);

type Verbs = 'openReceipts' | 'hasReceipts' | 'closeReceipts' | 'receipts' | 'forgetReceipt';

const OUTCOMES: readonly Receipt['outcome'][] = ['delivered', 'gone'];

export function redisReceipts(redis: Commands, base: string, clock: Clock): Pick<Push, Verbs> {
  const told = (id: string) => `${base}:told:${id}`;
  return {
    openReceipts: ({ id, subscription, until }, most) =>
      redis.durable(
        open,
        [base],
        id,
        subscription,
        String(Math.max(1, Math.floor(until - clock.now()))),
        String(most),
      ),

    hasReceipts: async (id) =>
      (await redis.command<number>('EXISTS', `${base}:receipts:${id}`)) === 1,

    async closeReceipts(id) {
      const removed = (await redis.durable<number>(close, [base], id)) === 1;
      // An earlier removal may have been answered with a failure.
      if (!removed) await redis.settled(base);
      return removed;
    },

    async receipts(id, after, most) {
      // Receipts and their places in turn.
      const range = [`(${after}`, '+inf', 'BYSCORE', 'LIMIT', '0', String(most), 'WITHSCORES'];
      const found = await redis.command<string[]>('ZRANGE', told(id), ...range);
      return found.flatMap((text, n) => {
        const [outcome, message] = text.split(' ');
        const known = OUTCOMES.find((one) => one === outcome);
        return n % 2 === 0 && known && message !== undefined
          ? { message, outcome: known, place: Number(found[n + 1]) }
          : [];
      });
    },

    async forgetReceipt(id, message) {
      await redis.command('ZREM', told(id), ...OUTCOMES.map((outcome) => `${outcome} ${message}`));
    },
  };
}
