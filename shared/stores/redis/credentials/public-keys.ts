import type { Random } from '#shared/base/random.ts';
import { used } from '#shared/stores/credentials/last-use.ts';
import {
  APPLICATIONS,
  ownerText,
  signedOut,
} from '#shared/stores/credentials/public-key-changes.ts';
import type { PublicKeyRecord, PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import { SLICE } from '#shared/stores/people/slices.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type Commands, script } from '../connection/connection.ts';
import { inSlots } from '../connection/in-slots.ts';
import { ATTEMPTS, LATE, redisPlaces, type Stamped } from '../connection/places.ts';
import type { Slots } from '../connection/slots.ts';
import { replaceField } from '../connection/replace-field.ts';

/** KEYS: keys. ARGV: id, record, stamp. */
const add = script(`${LATE}
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 'taken' end
if late(ARGV[3]) then return 'late' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 'added'
`);

/** KEYS: keys. ARGV: id, the record. */
const remove = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
`);

/** Digits that any number of milliseconds has room in. */
const DIGITS = 16;

/** Where it stands among those of its owner, as text. */
const ageOf = ({ created_at }: Pick<PublicKeyRecord, 'created_at'>): string =>
  String(created_at).padStart(DIGITS, '0');

const textOf = (key: PublicKeyRecord, stamp: string) => JSON.stringify({ ...key, stamp });

function stamped(text: string): Stamped<PublicKeyRecord> {
  const { stamp, ...thing } = JSON.parse(text) as PublicKeyRecord & { readonly stamp: string };
  return { thing, stamp };
}

/**
 * The hashes `SLOT:public-keys`, id to JSON, in the slots of the ids, and the sorted sets `SLOT:public-keys:order` of their
 * places in those of the owners. `of`: carries what a change is recorded with.
 */
export function redisPublicKeys(
  redis: Commands,
  slots: Slots,
  random: Random,
  of = redis,
): PublicKeys {
  const { of: keysOf } = inSlots(slots, (slot) => `${slot}:public-keys`);
  const textIn = (id: string) => redis.command<string | null>('HGET', keysOf(id), id);

  async function find(ids: readonly string[]) {
    const texts = await Promise.all(
      [...Map.groupBy(ids, keysOf)].map(([keys, some]) =>
        redis.command<(string | null)[]>('HMGET', keys, ...some),
      ),
    );
    const found = texts.flat().flatMap((text) => (text === null ? [] : stamped(text)));
    return new Map(found.map((one) => [one.thing.id, one]));
  }
  const places = redisPlaces(redis, slots, { name: 'public-keys:order', random, find });

  /** False when there is no such key; `attempt` is made again when the key was changed in between. */
  async function change(
    id: string,
    attempt: (was: Stamped<PublicKeyRecord>, text: string) => Promise<boolean>,
  ): Promise<boolean> {
    for (;;) {
      const text = await textIn(id);
      if (text === null) return false;
      if (await attempt(stamped(text), text)) return true;
    }
  }

  return {
    async add(key, most) {
      const { id } = key;
      const place = [ownerText(key.owner), ageOf(key), id] as const;
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const isTaken = (await textIn(id)) !== null;
        const stamp = isTaken ? undefined : await places.take(...place, most);
        if (stamp === undefined) {
          if (!isTaken && (await textIn(id)) === null) return 'full';
          // An earlier attempt may have been answered with a failure.
          await redis.settled(keysOf(id));
          return 'taken';
        }
        const args = [id, textOf(key, stamp), stamp];
        const outcome = await of.durable<'added' | 'taken' | 'late'>(add, [keysOf(id)], ...args);
        if (outcome === 'added') return outcome;
        await places.leave(...place, stamp);
        if (outcome === 'taken') return outcome;
      }
      throw new StoreUnavailable('the clocks of two masters of Redis differ by minutes');
    },
    async get(id) {
      const text = await textIn(id);
      return text === null ? undefined : stamped(text).thing;
    },
    of: (owner) => places.of(ownerText(owner)),
    async pageOfApplications({ limit, after }) {
      const from = after && `(${ownerText(after.owner)} ${ageOf(after)} ${after.id}!`;
      const found: PublicKeyRecord[] = [];
      const [first, last] = [from ?? `[${APPLICATIONS.from}`, `(${APPLICATIONS.before}`];
      for await (const slice of places.slices(first, last, limit)) {
        found.push(...slice);
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
    list: () => places.slices('-', '+', SLICE),
    async touch(id, at) {
      await change(id, async ({ thing, stamp }, was) => {
        const changed = used(thing, at);
        if (changed === thing) return true;
        const args = [id, textOf(changed, stamp), was];
        if ((await redis.script<number>(replaceField, [keysOf(id)], ...args)) === 0) return false;
        await places.keep(ownerText(thing.owner), ageOf(thing), id, stamp);
        return true;
      });
    },
    signOut: (id, at) =>
      change(id, async ({ thing, stamp }, was) => {
        const args = [id, textOf(signedOut(thing, at), stamp), was];
        return (await of.durable<number>(replaceField, [keysOf(id)], ...args)) === 1;
      }),
    async remove(id) {
      const removed = await change(id, async ({ thing, stamp }, was) => {
        if ((await of.durable<number>(remove, [keysOf(id)], id, was)) !== 1) return false;
        await places.leave(ownerText(thing.owner), ageOf(thing), id, stamp);
        return true;
      });
      // An earlier removal may have been answered with a failure.
      if (!removed) await redis.settled(keysOf(id));
      return removed;
    },
  };
}
