import { byOctets } from '#shared/base/name-range.ts';
import { randomId, type Random } from '#shared/base/random.ts';
import { type Commands, script } from './connection.ts';
import { firstOf, type ReadPart } from './first-of.ts';
import { inSlots } from './in-slots.ts';
import type { Slots } from './slots.ts';

/**
 * Milliseconds: a thing is not written so long after its place was taken, and a place that was so old when nothing stood
 * at it is one of nothing for good. The clocks of two masters differ by less than lies between.
 */
const LIFE = { writable: 600_000, young: 3_600_000 };

/** How often a thing is tried to be written that comes too late. It may have stood still the first time. */
export const ATTEMPTS = 2;

/** Digits that any number of milliseconds has room in. */
const DIGITS = 16;

/** For scripts that write a thing: whether that comes too late after its place was taken. */
export const LATE = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function late(stamp) return now() - tonumber(string.sub(stamp, 1, ${DIGITS})) > ${LIFE.writable} end
`;

/** KEYS: places. ARGV: text, id, random, first and last of the owner's, `most`. Things that are written anew count once. */
const take = script(`${LATE}
local others, ids = 0, { [ARGV[2]] = true }
for _, place in ipairs(redis.call('ZRANGE', KEYS[1], ARGV[4], ARGV[5], 'BYLEX')) do
  local id = string.match(place, '.* (.*) ')
  if not ids[id] then ids[id], others = true, others + 1 end
end
if others >= tonumber(ARGV[6]) then return 'full' end
local stamp = string.format('%0${DIGITS}.0f', now()) .. ARGV[3]
redis.call('ZADD', KEYS[1], 0, ARGV[1] .. ' ' .. stamp)
return stamp
`);

/** KEYS: places. ARGV: first and last, how many. */
const read = script(`${LATE}
local places = redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'BYLEX', 'LIMIT', 0, ARGV[3])
return { string.format('%.0f', now()), places }
`);

/** A place as it is written: the owner, where it stands among theirs, the id of the thing, and its stamp. */
interface Place {
  readonly key: string;
  readonly text: string;
  readonly id: string;
  readonly stamp: string;
  /** Whether nothing can be written any more that is not there. */
  readonly isSettled: boolean;
}

/** A thing that is there, with the stamp of its place. */
export interface Stamped<T> {
  readonly thing: T;
  readonly stamp: string;
}

export interface PlacesOf<T> {
  /** The end of the names of the sorted sets. */
  readonly name: string;
  readonly random: Random;
  /** Returns the things that are there, by id. */
  find(ids: readonly string[]): Promise<ReadonlyMap<string, Stamped<T>>>;
}

/**
 * Which things each owner has. A thing is in the slot of its own id, and its place in that of the owner, who may have only so
 * many. The place is taken first and goes last, so that nothing is without; one of which nothing came is passed over, and goes
 * after an hour. An owner is given by a text that is not the beginning of another one's and a space; ids have no spaces.
 */
export function redisPlaces<T>(redis: Commands, slots: Slots, { name, random, find }: PlacesOf<T>) {
  const { all, of } = inSlots(slots, (slot) => `${slot}:${name}`);
  const rangeOf = (owner: string) => [`[${owner} `, `(${owner}!`] as const;

  async function inRange(key: string, first: string, last: string, count: number) {
    const range = [first, last, String(count)];
    const [now, found] = await redis.script<[string, string[]]>(read, [key], ...range);
    return found.map((text): Place => {
      const [id = '', stamp = ''] = text.split(' ').slice(-2);
      const age = Number(now) - Number(stamp.slice(0, DIGITS));
      return { key, text, id, stamp, isSettled: age > LIFE.young };
    });
  }

  /** Returns what is at the places. Those of nothing go. */
  async function thingsAt(places: readonly Place[]) {
    const found = await find([...new Set(places.map(({ id }) => id))]);
    const isThere = ({ id, stamp }: Place) => found.get(id)?.stamp === stamp;
    const empty = places.filter((place) => place.isSettled && !isThere(place));
    await Promise.all(empty.map(({ key, text }) => redis.command('ZREM', key, text)));
    const things = places.flatMap((place) => {
      const { thing } = (isThere(place) && found.get(place.id)) || {};
      return thing === undefined ? [] : [thing];
    });
    return { things, freed: empty.length };
  }

  return {
    /** Resolves to the stamp for a thing; undefined: its owner has `most` others. */
    async take(owner: string, order: string, id: string, most: number) {
      const text = `${owner} ${order} ${id}`;
      const key = of(owner);
      const args = [text, id, randomId(random), ...rangeOf(owner), String(most)];
      for (;;) {
        const stamp = await redis.durable<string>(take, [key], ...args);
        if (stamp !== 'full') return stamp;
        const { freed } = await thingsAt(await inRange(key, ...rangeOf(owner), -1));
        if (freed === 0) return undefined;
      }
    },

    /** Puts a thing in its place again: the master that had it may have lost it, alone of all. */
    async keep(owner: string, order: string, id: string, stamp: string): Promise<void> {
      await redis.command('ZADD', of(owner), '0', `${owner} ${order} ${id} ${stamp}`);
    },

    /** Gives a place back, once the thing is gone. */
    async leave(owner: string, order: string, id: string, stamp: string): Promise<void> {
      await redis.command('ZREM', of(owner), `${owner} ${order} ${id} ${stamp}`);
    },

    /** Returns the things of an owner, in order. */
    of: async (owner: string): Promise<readonly T[]> =>
      (await thingsAt(await inRange(of(owner), ...rangeOf(owner), -1))).things,

    /** Yields the things of all owners between two bounds (`ZRANGE … BYLEX`), in order. */
    async *slices(first: string, last: string, size: number): AsyncGenerator<readonly T[]> {
      let from = first;
      for (;;) {
        const parts = all.map(
          (key): ReadPart<Place> =>
            (after, count) =>
              inRange(key, after ? `(${after.text}` : from, last, count),
        );
        const places = await firstOf(parts, (a, b) => byOctets(a.text, b.text), size);
        const end = places.at(-1);
        if (end === undefined) return;
        const { things } = await thingsAt(places);
        if (things.length > 0) yield things;
        from = `(${end.text}`;
      }
    },
  };
}
