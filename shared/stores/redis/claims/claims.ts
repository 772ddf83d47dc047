import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '#shared/base/random.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { SLICE } from '#shared/stores/people/slices.ts';
import { type Commands, script } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';
import type { Slots } from '../connection/slots.ts';
import { begin, inAttempt, judge } from './attempts.ts';
import { type Claim, digestOfThing, heldBy, isRemembered, placeOf, type Thing } from './things.ts';

/**
 * KEYS: claims. ARGV: the start of the members of a thing, id, attempt, whether nobody else may have it, whether it may be a former
 * one. Replies with nothing if it is claimed, else with `former` or with some of the claims of others.
 */
const claim = script(`
local start, id = ARGV[1], ARGV[2]
if ARGV[5] == 'refused' and redis.call('ZSCORE', KEYS[1], start) then return { 'former' } end
local own = start .. id .. '\\0'
if ARGV[4] == 'true' then
  local others = {}
  for _, member in ipairs(redis.call('ZRANGE', KEYS[1], '(' .. start, '(' .. string.sub(start, 1, -2) .. '\\1', 'BYLEX', 'LIMIT', 0, 3)) do
    if string.sub(member, 1, #own) ~= own then others[#others + 1] = member end
  end
  if #others > 0 then return others end
end
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], '[' .. own, '(' .. string.sub(own, 1, -2) .. '\\1', 'BYLEX')) do
  redis.call('ZREM', KEYS[1], member)
end
redis.call('ZADD', KEYS[1], 0, own .. ARGV[3])
return {}
`);

/**
 * KEYS: claims. ARGV: a claim that is not good any more, and the start of the members of its thing if that is a former one, which
 * it stays, whoever took the claim away.
 */
const drop = script(`
redis.call('ZREM', KEYS[1], ARGV[1])
if ARGV[2] then redis.call('ZADD', KEYS[1], 0, ARGV[2]) end
`);

/**
 * KEYS: a person's attempts, the former names. ARGV: the digest of one that is marked among the claims. It stays while an attempt
 * of the person is under way, which may have claimed the name before it was marked.
 */
const forget = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SREM', KEYS[2], ARGV[1]) end
`);

/** KEYS: claims. ARGV: the start of the members of a former thing. */
const mark = script(`redis.call('ZADD', KEYS[1], 0, ARGV[1])`);

/** Milliseconds until somebody who is about to have a thing is asked for again, and how often: somebody else may come each time. */
const AGAIN = 20;
const MOST = 250;

/** Octets that tell attempts apart. */
const ATTEMPT = 8;

/** The state of a claim. */
type State = 'held' | 'attempted' | 'former' | 'free';

/**
 * Which people have what finds them, over all slots. A script writes in one slot only, so that what says that a person has
 * something is in the slot of the person (`things.ts`), and a claim in the slot of the thing leads there:
 *
 * 1. The person's slot notes an attempt.
 * 2. Each thing is claimed in its slot, in the order of all things, so that no two wait for one another.
 * 3. One script in the person's slot writes all, if the attempt is still noted.
 *
 * A claim without the thing is good for nothing: the next one who wants it asks the person's slot, which ends an attempt that is too
 * old, and takes the claim away. Invariant: whoever has a thing has a claim to it; and to a thing that one person may have there is
 * one.
 */
export function redisClaims(redis: Commands, slots: Slots, random: Random) {
  const place = (thing: Thing) => placeOf(slots, digestOfThing(thing));
  const slotOf = (id: string) => slots.of(digestOf(id));
  const attemptsOf = (id: string) => `${slotOf(id)}:attempts:${id}`;

  async function stateOf(id: string, thing: Thing): Promise<State> {
    const slot = slotOf(id);
    const { key, command, argument, expected } = heldBy(id, thing, slot);
    const keys = [attemptsOf(id), key, `${slot}:names:former`] as const;
    const digest = isRemembered(thing) ? digestOf(thing.value) : '';
    return redis.durable<State>(judge, keys, command, argument, expected, digest);
  }

  /** Takes a claim away unless it is good, or may become so. */
  async function settle(thing: Thing, member: string): Promise<State> {
    const { key, start } = place(thing);
    const id = idIn(member, start);
    const state = await stateOf(id, thing);
    if (state === 'free') await redis.durable(drop, [key], member);
    if (state === 'former') {
      await redis.durable(drop, [key], member, start);
      const keys = [attemptsOf(id), `${slotOf(id)}:names:former`] as const;
      await redis.script(forget, keys, digestOf(thing.value));
    }
    return state;
  }

  /** False: somebody else has it. */
  async function take(id: string, attempt: string, wanted: Claim): Promise<boolean> {
    const { alone, former } = wanted;
    const { key, start } = place(wanted);
    const asked = [start, id, attempt, String(alone), former];
    for (let times = 1; times <= MOST; times += 1) {
      const others = await redis.durable<string[]>(claim, [key], ...asked);
      if (others.length === 0) return true;
      for (const member of others) {
        if (member === 'former') return false;
        const state = await settle(wanted, member);
        if (state === 'held') return false;
        if (state === 'attempted') await sleep(AGAIN);
      }
    }
    throw new StoreUnavailable(`others are about to have the same ${wanted.kind}`);
  }

  /** Some of the members of a thing; `id`: those of that person. */
  async function members(thing: Thing, id?: string): Promise<readonly string[]> {
    const { key, start } = place(thing);
    const all = id === undefined ? start : `${start}${id}\0`;
    const range = [`[${all}`, `(${all.slice(0, -1)}\u0001`, 'BYLEX'] as const;
    return redis.command<string[]>('ZRANGE', key, ...range, 'LIMIT', '0', String(SLICE));
  }

  return {
    slotOf,

    /** Resolves to the ids of those who have a thing, or had or will have. */
    async owners(thing: Thing): Promise<readonly string[]> {
      const { start } = place(thing);
      return (await members(thing)).flatMap((member) =>
        member === start ? [] : [idIn(member, start)],
      );
    },

    /** Notes by its digest what somebody had who was removed. */
    async addFormer(digest: string): Promise<void> {
      const { key, start } = placeOf(slots, digest);
      await redis.durable(mark, [key], start);
    },

    /** Whether somebody who was removed had it. */
    async wasSomebodys(thing: Thing): Promise<boolean> {
      const { start } = place(thing);
      for (const member of await members(thing)) {
        if (member === start || (await settle(thing, member)) === 'former') return true;
      }
      return false;
    },

    /**
     * Claims things for a person and does `work`, whose only durable script writes them. Undefined: somebody else has one of
     * them. Rejects with `StoreUnavailable` if it takes too long.
     */
    async claiming<T>(
      id: string,
      claims: readonly Claim[],
      work: (within: (of: Commands) => Commands) => Promise<T>,
    ): Promise<T | undefined> {
      const attempts = attemptsOf(id);
      const attempt = random(ATTEMPT).toString('base64url');
      const inOrder = claims.toSorted((a, b) => (digestOfThing(a) < digestOfThing(b) ? -1 : 1));
      let open = true;
      const ends = () => {
        open = false;
      };
      await redis.script(begin, [attempts], attempt);
      try {
        for (const wanted of inOrder) {
          if (!(await take(id, attempt, wanted))) return undefined;
        }
        return await work((of) => inAttempt(of, attempts, attempt, ends));
      } finally {
        if (open) await redis.command('HDEL', attempts, attempt);
      }
    },

    /**
     * Takes the claims of a person to things that they have no more, or have not got. Where their slots do not answer, the next one
     * who wants a thing does it.
     */
    async release(id: string, things: readonly Thing[]): Promise<void> {
      const released = await Promise.allSettled(
        things.map(async (thing) => {
          for (const member of await members(thing, id)) await settle(thing, member);
        }),
      );
      for (const outcome of released) {
        if (outcome.status === 'rejected' && !(outcome.reason instanceof StoreUnavailable)) {
          throw outcome.reason;
        }
      }
    },
  };
}

export type Claims = ReturnType<typeof redisClaims>;

/** Returns the id in a claim: between the start and the attempt, a NUL behind each. */
const idIn = (member: string, start: string) =>
  member.slice(start.length, member.lastIndexOf('\0'));
