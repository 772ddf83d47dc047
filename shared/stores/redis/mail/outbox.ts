import { byOctets } from '#shared/base/name-range.ts';
import type { Outbox, OutboxMessage, TakenMessage } from '#shared/stores/mail/outbox.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { inSlots } from '../connection/in-slots.ts';
import type { Slots } from '../connection/slots.ts';

/** KEYS: messages, when they are due. ARGV: id, record, when it is due. */
const add = script(`
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return 1
`);

/** KEYS: messages, when they are due, attempts. ARGV: now, until when they are taken, ids. Others may be quicker. */
const take = script(`
local taken = {}
for n = 3, #ARGV do
  local id = ARGV[n]
  local due = redis.call('ZSCORE', KEYS[2], id)
  if due and tonumber(due) <= tonumber(ARGV[1]) then
    redis.call('ZADD', KEYS[2], ARGV[2], id)
    taken[#taken + 1] = redis.call('HGET', KEYS[1], id)
    taken[#taken + 1] = tostring(redis.call('HINCRBY', KEYS[3], id, 1))
  end
end
return taken
`);

/** KEYS: when they are due. ARGV: id, when. */
const postpone = script(`return redis.call('ZADD', KEYS[1], 'XX', ARGV[2], ARGV[1])`);

/** KEYS: messages, when they are due, attempts. ARGV: id. */
const remove = script(`
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
return redis.call('HDEL', KEYS[1], ARGV[1])
`);

/** The hash of messages, id to JSON; the sorted set of their ids by when they are due; the hash of attempts. */
const outboxKeys = (slot: string) =>
  [`${slot}:outbox`, `${slot}:outbox:due`, `${slot}:outbox:attempts`] as const;

interface Due {
  readonly keys: ReturnType<typeof outboxKeys>;
  readonly id: string;
  readonly at: number;
}

const inOrder = (a: Due, b: Due) => a.at - b.at || byOctets(a.id, b.id);

const messagesIn = (texts: readonly string[]): TakenMessage[] =>
  texts.flatMap((text, n) => {
    if (n % 2 === 1) return [];
    const message: OutboxMessage = JSON.parse(text);
    return { ...message, attempt: Number(texts[n + 1]) };
  });

/** Milliseconds of a turn, a little less than until each process asks again. */
const TURN = '900';

/** Messages are in the slots of the digests of their ids, which may begin with their kind. */
export function redisOutbox(redis: Commands, slots: Slots, prefix: string): Outbox {
  const turn = `{${prefix}}:outbox:turn`;
  const { all, of } = inSlots(slots, outboxKeys);

  async function dueIn(keys: Due['keys'], now: number, count: number): Promise<readonly Due[]> {
    const first = ['-inf', String(now), 'BYSCORE', 'LIMIT', '0', String(count), 'WITHSCORES'];
    const found = await redis.command<string[]>('ZRANGE', keys[1], ...first);
    return found.flatMap((id, n) => (n % 2 === 0 ? { keys, id, at: Number(found[n + 1]) } : []));
  }

  return {
    async add(message) {
      const { id, created_at, due: at = created_at } = message;
      const [messages, due] = of(id);
      const record = JSON.stringify(message);
      const added = await redis.durable<number>(add, [messages, due], id, record, String(at));
      if (added === 0) await redis.settled(messages);
      return added === 1;
    },

    takeTurn: async () =>
      (await redis.command<string | null>('SET', turn, '', 'NX', 'PX', TURN)) !== null,

    async take(now, until, count) {
      const due = (await Promise.all(all.map((keys) => dueIn(keys, now, count)))).flat();
      const first = due.toSorted(inOrder).slice(0, count);
      const times = [now, until].map(String);
      const found = await Promise.all(
        [...Map.groupBy(first, ({ keys }) => keys)].map(([keys, some]) =>
          redis.durable<string[]>(take, keys, ...times, ...some.map(({ id }) => id)),
        ),
      );
      if (first.length === count) await redis.command('DEL', turn);
      const taken = new Map(found.flatMap(messagesIn).map((message) => [message.id, message]));
      return first.flatMap(({ id }) => taken.get(id) ?? []);
    },

    async postpone(id, at) {
      await redis.durable(postpone, [of(id)[1]], id, String(at));
    },

    async remove(id) {
      await redis.durable(remove, of(id), id);
    },
  };
}
