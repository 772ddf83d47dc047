import { used } from '#shared/stores/credentials/last-use.ts';
import {
  APPLICATIONS,
  ownerText,
  signedOut,
} from '#shared/stores/credentials/public-key-changes.ts';
import type { PublicKeyRecord, PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import { SLICE, slices } from '#shared/stores/people/slices.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { replaceField } from '../connection/replace-field.ts';

/** KEYS: keys, their order. ARGV: id, record, its place, first and last of the owner's places, `most`. */
const add = script(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 'taken' end
if redis.call('ZLEXCOUNT', KEYS[2], ARGV[4], ARGV[5]) >= tonumber(ARGV[6]) then return 'full' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], 0, ARGV[3])
return 'added'
`);

/** KEYS: keys, their order. ARGV: id, its place, the record. */
const remove = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[2])
return 1
`);

/** KEYS: keys, their order. ARGV: first and last place, how many at most. What follows the last space is the id. */
const between = script(`
local ids = redis.call('ZRANGE', KEYS[2], ARGV[1], ARGV[2], 'BYLEX', 'LIMIT', 0, ARGV[3])
if #ids == 0 then return {} end
for n, place in ipairs(ids) do ids[n] = string.match(place, '.* (.*)') end
return redis.call('HMGET', KEYS[1], unpack(ids))
`);

/** Digits that any number of milliseconds has room in. */
const DIGITS = 16;

/** Where it stands among all, as text. */
function placeOf({
  owner,
  created_at,
  id,
}: Pick<PublicKeyRecord, 'owner' | 'created_at' | 'id'>): string {
  return `${ownerText(owner)} ${ageOf({ created_at })} ${id}`;
}

/** Where it stands among those of its owner, as text. */
export const ageOf = ({ created_at }: Pick<PublicKeyRecord, 'created_at'>): string =>
  String(created_at).padStart(DIGITS, '0');

/** The hash of keys, id to JSON, and the sorted set in which those of one owner stand together by age. */
export const publicKeyKeys = (slot: string) =>
  [`${slot}:public-keys`, `${slot}:public-keys:order`] as const;

/** When a key was last used is not as durable as the rest: a note that is lost does no harm. */
export function publicKeysInOneSlot(redis: Commands, slot: string): PublicKeys {
  const [keys, order] = publicKeyKeys(slot);
  const parsed = (key: string): PublicKeyRecord => JSON.parse(key);
  const find = (id: string) => redis.command<string | null>('HGET', keys, id);
  const read = async (first: string, last: string, most: number) =>
    (await redis.script<string[]>(between, [keys, order], first, last, String(most))).map(parsed);
  /** The first and the last place of an owner: `!` comes after the space. */
  const placesOf = (owner: PublicKeyRecord['owner']) =>
    [`[${ownerText(owner)} `, `(${ownerText(owner)}!`] as const;

  /** False when there is no such key; `attempt` is made again when the key was changed in between. */
  async function change(
    id: string,
    attempt: (key: PublicKeyRecord, was: string) => Promise<boolean>,
  ): Promise<boolean> {
    for (;;) {
      const was = await find(id);
      if (was === null) return false;
      if (await attempt(parsed(was), was)) return true;
    }
  }

  return {
    add: (key, most) =>
      redis.durable(
        add,
        [keys, order],
        key.id,
        JSON.stringify(key),
        placeOf(key),
        ...placesOf(key.owner),
        String(most),
      ),
    async get(id) {
      const key = await find(id);
      return key === null ? undefined : parsed(key);
    },
    of: (owner) => read(...placesOf(owner), -1),
    pageOfApplications: ({ limit, after }) =>
      read(
        after ? `(${placeOf(after)}` : `[${APPLICATIONS.from}`,
        `(${APPLICATIONS.before}`,
        limit,
      ),
    list: () =>
      slices<PublicKeyRecord>((last) => read(last ? `(${placeOf(last)}` : '-', '+', SLICE)),
    async touch(id, at) {
      await change(id, async (key, was) => {
        const changed = used(key, at);
        if (changed === key) return true;
        const record = JSON.stringify(changed);
        return (await redis.script<number>(replaceField, [keys], id, record, was)) === 1;
      });
    },
    async signOut(id, at) {
      return change(id, async (key, was) => {
        const record = JSON.stringify(signedOut(key, at));
        return (await redis.durable<number>(replaceField, [keys], id, record, was)) === 1;
      });
    },
    async remove(id) {
      const removed = await change(
        id,
        async (key, was) =>
          (await redis.durable<number>(remove, [keys, order], id, placeOf(key), was)) === 1,
      );
      // An earlier removal may have been answered with a failure.
      if (!removed) await redis.settled(keys);
      return removed;
    },
  };
}
