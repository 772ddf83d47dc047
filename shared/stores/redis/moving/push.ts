import { systemClock } from '#shared/base/clock.ts';
import { type PushSubscription, RECEIPT_LIFE } from '#shared/stores/push/push.ts';
import { script } from '../connection/connection.ts';
import { scan } from '../connection/scan.ts';
import { oneSlot } from '../connection/slots.ts';
import { pushKeysIn } from '../push/keys-in-slots.ts';
import { pushKeys } from '../push/names.ts';
import { pushInSlots } from '../push/push-in-slots.ts';
import type { Move, Mover } from './move.ts';

/** The most subscriptions of one person: as many as there were. */
const MOST = Number.MAX_SAFE_INTEGER;

/** How often all keys are looked through at least: a slot that goes to another master meanwhile may be overlooked once. */
const LOOKS = 2;

/** KEYS: a hash. Replies with the milliseconds that it has left, and its fields. */
const read = script(`return { redis.call('PTTL', KEYS[1]), redis.call('HGETALL', KEYS[1]) }`);

/** KEYS: a hash. ARGV: milliseconds, its fields. */
const writeHash = script(`
if redis.call('EXISTS', KEYS[1]) == 1 then return end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`);

/** KEYS: messages. ARGV: id, place, milliseconds. */
const list = script(`
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
`);

/** KEYS: where a message was. ARGV: its subscription, milliseconds. */
const point = script(`redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`);

/** KEYS: places, opened. ARGV: subscription, the last place, the receipt subscriptions that were opened. */
const begin = script(`
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if #ARGV > 2 then redis.call('SADD', KEYS[2], unpack(ARGV, 3)) end
`);

/** KEYS: receipts, told, expected. 0: it was written before. ARGV: milliseconds, the last place, how many were told, these and their places, messages and their milliseconds. */
const writeReceipts = script(`
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local last = 3 + 2 * tonumber(ARGV[3])
for n = 4, last, 2 do redis.call('ZADD', KEYS[2], ARGV[n + 1], ARGV[n]) end
redis.call('PEXPIRE', KEYS[2], ${RECEIPT_LIFE})
local now = redis.call('TIME')[1] * 1000
for n = last + 1, #ARGV, 2 do
  redis.call('ZADD', KEYS[3], string.format('%.0f', now + ARGV[n + 1]), ARGV[n])
end
redis.call('PEXPIRE', KEYS[3], ARGV[1])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
return 1
`);

/**
 * Subscriptions with their messages, and receipt subscriptions. Their ids stay as they are: what was known to whoever has
 * them opens the same. The former keys are removed once all is moved.
 */
export const movePush: Mover = async (run) => {
  const { redis, mine, prefix, slots, random, count } = run;
  const base = pushKeys(oneSlot(prefix).of(''));
  const push = pushInSlots(mine, slots, systemClock, random);
  const place = (await redis.command<string | null>('GET', `${base}:place`)) ?? '0';
  const receipts = `${base}:receipts:`;
  for await (const found of everyKey(run, `${receipts}*`)) {
    const ids = found.map((key) => key.slice(receipts.length));
    const moved = await Promise.all(ids.map((id) => moveReceipts(run, base, id, place)));
    count(moved.filter(Boolean).length);
  }
  for await (const slice of scan(redis, `${base}:subscriptions`)) {
    const moved = await Promise.all(
      slice.map(async ([id, text]) => {
        const subscription: PushSubscription = JSON.parse(text);
        // Its push resource is written last.
        if ((await push.subscriptionOf(subscription.push)) !== undefined) return false;
        await moveMessages(run, base, id, place);
        await push.subscribe(subscription, MOST);
        return true;
      }),
    );
    count(moved.filter(Boolean).length);
  }
  await redis.durableCommand('DEL', `${base}:subscriptions`);
  for await (const found of everyKey(run, `${base}:*`)) {
    await Promise.all(found.map((key) => redis.durableCommand('DEL', key)));
  }
};

async function* everyKey({ redis }: Move, pattern: string): AsyncGenerator<readonly string[]> {
  for (let look = 1; look <= LOOKS; look += 1) yield* redis.keys(pattern);
}

async function moveMessages({ redis, mine, slots }: Move, base: string, id: string, place: string) {
  const keys = pushKeysIn(slots);
  const some = ['0', '-1', 'WITHSCORES'];
  const messages = await redis.command<string[]>('ZRANGE', `${base}:messages:${id}`, ...some);
  for (let n = 0; n < messages.length; n += 2) {
    const [message = '', at = ''] = messages.slice(n, n + 2);
    const [left, fields] = await redis.script<[number, string[]]>(read, [
      `${base}:message:${message}`,
    ]);
    if (fields.length === 0) continue;
    const to = keys.message(message, id);
    await mine.durable(writeHash, [to], String(left), ...fields);
    await mine.durable(list, [keys.messages(id)], message, at, String(left));
    if (to !== keys.message(message)) {
      await mine.durable(point, [keys.moved(message)], id, String(left));
    }
  }
  const [left, topics] = await redis.script<[number, string[]]>(read, [`${base}:topics:${id}`]);
  if (topics.length > 0) {
    await mine.durable(writeHash, [keys.topics(id)], String(left), ...topics);
  }
  const opened = await redis.command<string[]>('SMEMBERS', `${base}:opened:${id}`);
  const here = opened.filter((receipts) => slots.of(receipts) === slots.of(id));
  await mine.durable(begin, [keys.places(id), keys.opened(id)], id, place, ...here);
}

async function moveReceipts({ redis, mine, slots }: Move, base: string, id: string, place: string) {
  const keys = pushKeysIn(slots);
  const left = await redis.command<number>('PTTL', `${base}:receipts:${id}`);
  if (left <= 0) return false;
  const some = ['0', '-1', 'WITHSCORES'];
  const told = await redis.command<string[]>('ZRANGE', `${base}:told:${id}`, ...some);
  const expected = await redis.command<string[]>('ZRANGE', `${base}:expected:${id}`, '0', '-1');
  const lives = await Promise.all(
    expected.map(async (message) => [
      message,
      String(await redis.command<number>('PTTL', `${base}:message:${message}`)),
    ]),
  );
  const written = await mine.durable<number>(
    writeReceipts,
    [keys.receipts(id), keys.told(id), keys.expected(id)],
    String(left),
    place,
    String(told.length / 2),
    ...told,
    ...lives.filter(([, life]) => Number(life) > 0).flat(),
  );
  return written === 1;
}
