import { type Random, randomId } from '#shared/base/random.ts';
import { type Commands, script } from '../connection/connection.ts';
import { scan } from '../connection/scan.ts';
import { revocationKeys } from '../revocation/revocation-stream.ts';
import { RAISE } from '../revocation/revocations.ts';
import type { Place } from './second-factor-keys.ts';
import type { SetUps } from './set-ups.ts';

/** A set-up that is under way. Without a record: that has taken its place, and only the mark and this have to go. */
interface Note {
  /** Names its mark in the slot of the revocations. */
  readonly nonce: string;
  readonly record?: string;
}

/** Milliseconds that a set-up has to be done; then it is refused, and sign-ins of the person no longer ask for its mark. */
const PATIENCE = '60000';

/** KEYS: second factors, set-ups. ARGV: person. */
const look = script(`
return { redis.call('HGET', KEYS[1], ARGV[1]), redis.call('HGET', KEYS[2], ARGV[1]) }
`);

/** KEYS: set-ups, second factors. ARGV: person, note, the record that is replaced or ''. */
const begin = script(`
if (redis.call('HGET', KEYS[2], ARGV[1]) or '') ~= ARGV[3] then return 0 end
return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
`);

/** KEYS: mark, stream, generations. ARGV: milliseconds kept, id, generation, until. 0: refused, now or before. */
const decide = script(`${RAISE}
if redis.call('GET', KEYS[1]) ~= 'open' then return 0 end
local generation = redis.call('HGET', KEYS[3], 'person:' .. ARGV[2]) or '0'
if tonumber(generation) ~= tonumber(ARGV[3]) then
  redis.call('DEL', KEYS[1])
  return 0
end
redis.call('SET', KEYS[1], 'done')
return raise(KEYS[2], KEYS[3], 'person', ARGV[2], ARGV[4])
`);

/** KEYS: mark. Replies with what it was. */
const refuse = script(`
local mark = redis.call('GET', KEYS[1])
if mark == 'open' then redis.call('DEL', KEYS[1]) end
return mark
`);

/** KEYS: second factors, their order, set-ups. ARGV: person, note, record, the note that takes its place. */
const take = script(`
if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then return end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[4])
`);

/** KEYS: set-ups. ARGV: person, note. */
const forget = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
`);

export interface InSteps {
  /** Takes the step that decides, and the entry of the audit log with it. */
  readonly deciding: Commands;
  readonly prefix: string;
  readonly random: Random;
  /** Milliseconds for which a revocation is kept. */
  readonly kept: string;
}

/**
 * Second factors have the slot of their person, and generations that of the revocations:
 * 1. The mark of the set-up, `{prefix}:second-factors:set-up:{nonce}`, is `open` for a while.
 * 2. In the slot of the person there is a note of it.
 * 3. The mark becomes `done` and the generation is raised, if the mark is open still. Without a mark it is refused for good.
 * 4. The record takes its place, and the note loses it.
 * 5. The mark goes, then the note.
 *
 * Anybody who finds a note asks for its mark. If that is `done`, they do the rest first. Until then the former record counts;
 * a change of another kind takes the mark away before it.
 * Each step waits for the replicas that have what it relies on: a failover that undid a mark alone would leave a half.
 */
export function setUpsInSteps(
  redis: Commands,
  { deciding, prefix, random, kept }: InSteps,
): SetUps {
  const { stream, generations } = revocationKeys(prefix);
  const markOf = (nonce: string) => `{${prefix}}:second-factors:set-up:${nonce}`;

  async function clear({ person, setUps }: Place, { nonce }: Note, note: string) {
    await redis.settled(setUps);
    await redis.command('DEL', markOf(nonce));
    await redis.script(forget, [setUps], person, note);
  }

  async function finish(place: Place, { nonce, record }: Required<Note>) {
    const { person, factors, order, setUps } = place;
    const note = JSON.stringify({ nonce, record });
    const taken = JSON.stringify({ nonce });
    await redis.durable(take, [factors, order, setUps], person, note, record, taken);
    await clear(place, { nonce }, taken);
  }

  /** Ends what a note says, if that is done or refused, or now `refused`. False: it goes on. */
  async function end(place: Place, note: string, refused: boolean): Promise<boolean> {
    const { nonce, record }: Note = JSON.parse(note);
    const mark = markOf(nonce);
    if (record === undefined) {
      await clear(place, { nonce }, note);
      return true;
    }
    const found = refused
      ? await redis.durable<string | null>(refuse, [mark])
      : await redis.command<string | null>('GET', mark);
    if (found === 'open' && !refused) return false;
    await redis.settled(mark);
    if (found === 'done') await finish(place, { nonce, record });
    else await redis.script(forget, [place.setUps], place.person, note);
    return true;
  }

  async function findAfter(place: Place, refused: boolean): Promise<string | null> {
    const { person, factors, setUps } = place;
    for (;;) {
      const keys = [factors, setUps] as const;
      const found = await redis.script<[string | null, string | null]>(look, keys, person);
      const [record, note] = found;
      if (note === null || !(await end(place, note, refused))) return record;
    }
  }

  return {
    find: (place) => findAfter(place, false),
    alone: (place) => findAfter(place, true),
    async finish(keys) {
      for await (const slice of scan(redis, keys.setUps)) {
        for (const [person, note] of slice) {
          const accountId: string = JSON.parse(person);
          await end({ ...keys, person, accountId }, note, false);
        }
      }
    },
    async setUp(place, { record, was, generation, until }) {
      const { accountId, person, factors, setUps } = place;
      const nonce = randomId(random);
      const [mark, note] = [markOf(nonce), JSON.stringify({ nonce, record })];
      await redis.command('SET', mark, 'open', 'PX', PATIENCE);
      const noted = [setUps, factors] as const;
      if ((await redis.durable<number>(begin, noted, person, note, was ?? '')) === 0) {
        await redis.command('DEL', mark);
        await findAfter(place, true);
        return 'changed';
      }
      const decided = [mark, stream, generations] as const;
      const expected = [accountId, String(generation), String(until)];
      const raised = await deciding.durable<number>(decide, decided, kept, ...expected);
      if (raised > 0) {
        await finish(place, { nonce, record });
        return raised;
      }
      await redis.settled(mark);
      await redis.script(forget, [setUps], person, note);
      return undefined;
    },
  };
}
