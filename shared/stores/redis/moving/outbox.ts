import { script } from '../connection/connection.ts';
import { inSlots } from '../connection/in-slots.ts';
import { scan } from '../connection/scan.ts';
import { oneSlot } from '../connection/slots.ts';
import { outboxKeys } from '../mail/outbox.ts';
import type { Mover } from './move.ts';

/** KEYS: when they are due, attempts. ARGV: an id. */
const read = script(`
return { redis.call('ZSCORE', KEYS[1], ARGV[1]) or '0', redis.call('HGET', KEYS[2], ARGV[1]) or '' }
`);

/** KEYS: messages, when they are due, attempts. ARGV: id, record, when it is due, attempts or ''. */
const write = script(`
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return end
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[3], ARGV[1], ARGV[4]) end
`);

/** Waiting mail, with when it is due and how often it was tried to be sent. */
export const moveOutbox: Mover = async ({ redis, mine, prefix, slots, count }) => {
  const before = outboxKeys(oneSlot(prefix).of(''));
  const now = inSlots(slots, outboxKeys);
  const [messages, due, attempts] = before;

  async function move([id, record]: readonly [id: string, record: string]): Promise<void> {
    const more = await redis.script<[at: string, attempts: string]>(read, [due, attempts], id);
    await mine.durable(write, now.of(id), id, record, ...more);
  }

  for await (const slice of scan(redis, messages)) {
    await Promise.all(slice.map(move));
    count(slice.length);
  }
  for (const key of before) await redis.durableCommand('DEL', key);
};
