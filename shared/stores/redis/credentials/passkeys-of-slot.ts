import { afterUse } from '#shared/stores/credentials/passkey-changes.ts';
import { personText } from '#shared/stores/people/new-passkey.ts';
import type { PasskeyRecord, Passkeys } from '#shared/stores/credentials/passkeys.ts';
import { SLICE, slices } from '#shared/stores/people/slices.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { passkeyKeys, placeOf } from '../connection/passkey-places.ts';

/** KEYS: passkeys, their order. ARGV: id, record, its place, first and last of the person's places, `most`. */
const add = script(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 'taken' end
if redis.call('ZLEXCOUNT', KEYS[2], ARGV[4], ARGV[5]) >= tonumber(ARGV[6]) then return 'full' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], 0, ARGV[3])
return 'added'
`);

/** KEYS: passkeys. ARGV: id, record, the record that it replaces. */
const replace = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then return 'changed' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 'replaced'
`);

/** KEYS: passkeys, their order. ARGV: id, its place, the record, first and last of the person's places, `least`. */
const remove = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then return 'changed' end
if redis.call('ZLEXCOUNT', KEYS[2], ARGV[4], ARGV[5]) - 1 < tonumber(ARGV[6]) then return 'last' end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[2])
return 'removed'
`);

/** The id is at the end of a place, after the last space. */
const ID_OF = `local function idOf(place) return string.match(place, '.* (.*)') end`;

/** KEYS: passkeys, their order. ARGV: first and last of the person's places. */
const removeAll = script(`
${ID_OF}
local places = redis.call('ZRANGE', KEYS[2], ARGV[1], ARGV[2], 'BYLEX')
for _, place in ipairs(places) do
  redis.call('HDEL', KEYS[1], idOf(place))
  redis.call('ZREM', KEYS[2], place)
end
return #places
`);

/** KEYS: passkeys, their order. ARGV: first and last place, how many at most. */
const between = script(`
${ID_OF}
local ids = redis.call('ZRANGE', KEYS[2], ARGV[1], ARGV[2], 'BYLEX', 'LIMIT', 0, ARGV[3])
if #ids == 0 then return {} end
for n, place in ipairs(ids) do ids[n] = idOf(place) end
return redis.call('HMGET', KEYS[1], unpack(ids))
`);

/** The first and the last place of a person: `!` comes after the space. */
const placesOf = (accountId: string) =>
  [`[${personText(accountId)} `, `(${personText(accountId)}!`] as const;

export interface PasskeysOfSlot extends Passkeys {
  /** By person and age, those behind another one, and so many at most. */
  after(last: PasskeyRecord | undefined, most: number): Promise<readonly PasskeyRecord[]>;
}

/**
 * Passkeys of people of one slot: the hash `{slot}:passkeys`, id to JSON, and the sorted set `{slot}:passkeys:order`, in which
 * those of one person stand together by age. Uses are as durable as changes: a counter that went back would let a copy in.
 */
export function passkeysOfSlot(redis: Commands, slot: string): PasskeysOfSlot {
  const [passkeys, order] = passkeyKeys(slot);
  const parsed = (record: string): PasskeyRecord => JSON.parse(record);
  const read = async (first: string, last: string, most: number) =>
    (await redis.script<string[]>(between, [passkeys, order], first, last, String(most))).map(
      parsed,
    );

  const after = (last: PasskeyRecord | undefined, most: number) =>
    read(last ? `(${placeOf(last)}` : '-', '+', most);

  /**
   * `gone` when there is no such passkey, or not of this person; an earlier removal may have been answered with a
   * failure. `attempt` is made again when the passkey was changed in between.
   */
  async function change<Outcome extends string>(
    id: string,
    accountId: string | undefined,
    attempt: (passkey: PasskeyRecord, was: string) => Promise<Outcome | 'changed'>,
  ): Promise<Outcome | 'gone'> {
    for (;;) {
      const was = await redis.command<string | null>('HGET', passkeys, id);
      const passkey = was === null ? undefined : parsed(was);
      const theirs = accountId === undefined || passkey?.accountId === accountId;
      if (was === null || passkey === undefined || !theirs) {
        await redis.settled(passkeys);
        return 'gone';
      }
      const outcome = await attempt(passkey, was);
      if (outcome !== 'changed') return outcome;
    }
  }

  const replaced = (passkey: PasskeyRecord, was: string) =>
    redis.durable<'changed' | 'replaced'>(
      replace,
      [passkeys],
      passkey.id,
      JSON.stringify(passkey),
      was,
    );

  return {
    add: (passkey, most) =>
      redis.durable(
        add,
        [passkeys, order],
        passkey.id,
        JSON.stringify(passkey),
        placeOf(passkey),
        ...placesOf(passkey.accountId),
        String(most),
      ),
    async get(id) {
      const passkey = await redis.command<string | null>('HGET', passkeys, id);
      return passkey === null ? undefined : parsed(passkey);
    },
    of: (accountId) => read(...placesOf(accountId), -1),
    after,
    list: () => slices<PasskeyRecord>((last) => after(last, SLICE)),
    use: (id, use) =>
      change(id, undefined, async (passkey, was) => {
        const used = afterUse(passkey, use);
        return (await replaced(used.passkey, was)) === 'changed' ? 'changed' : used.outcome;
      }),
    rename: async (accountId, id, name) =>
      (await change(id, accountId, (passkey, was) => replaced({ ...passkey, name }, was))) ===
      'replaced',
    remove: (accountId, id, least) =>
      change(id, accountId, (passkey, was) =>
        redis.durable<'changed' | 'last' | 'removed'>(
          remove,
          [passkeys, order],
          id,
          placeOf(passkey),
          was,
          ...placesOf(accountId),
          String(least),
        ),
      ),
    async removeAll(accountId) {
      const removed = await redis.durable<number>(
        removeAll,
        [passkeys, order],
        ...placesOf(accountId),
      );
      if (removed === 0) await redis.settled(passkeys);
    },
  };
}
