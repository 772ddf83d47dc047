import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { type Connection, script } from './connection/connection.ts';
import { scan } from './connection/scan.ts';
import { inOneRun } from './one-run.ts';
import { LAYOUTS } from './layout.ts';
import { clientKeysOfOneSlot, redisClients } from './oauth/clients.ts';
import { OLDEST_WITH_SLOTS, schemaKeys } from './migrations/migrate.ts';

/** KEYS: a key. Replies with its type, its fields or its value, and the milliseconds that it has left. */
const read = script(`
local kind = redis.call('TYPE', KEYS[1]).ok
local content = {}
if kind == 'hash' then content = redis.call('HGETALL', KEYS[1]) end
return { kind, content, redis.call('PTTL', KEYS[1]) }
`);

/** KEYS: a key. ARGV: its type, milliseconds or -1, its fields. What is there was written by a run that was stopped. */
const write = script(`
if redis.call('EXISTS', KEYS[1]) == 1 then return end
if ARGV[1] == 'hash' then redis.call('HSET', KEYS[1], unpack(ARGV, 3)) else redis.call('SET', KEYS[1], '') end
if ARGV[2] ~= '-1' then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
`);

/**
 * KEYS: oldest, slots, run. ARGV: the oldest compatible schema. Replies with the number of this run, 0: all is moved already; and
 * with what was the oldest one before a first run, else ''.
 */
const begin = script(`
local found = redis.call('GET', KEYS[2])
if found == 'many' then return { 0, '' } end
local oldest = redis.call('GET', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], 'moving')
return { redis.call('INCR', KEYS[3]), not found and oldest or '' }
`);

/** The same KEYS. ARGV: the number of the run, and the oldest schema before it. Nothing was moved yet. */
const takeBack = script(`
if redis.call('GET', KEYS[3]) ~= ARGV[1] or redis.call('GET', KEYS[2]) ~= 'moving' then return end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('DEL', KEYS[2])
`);

export interface Moving {
  /** Called when no server can start any more. Rejects if one runs all the same: then nothing is moved. */
  sure(): Promise<void>;
  /** Told how many keys were moved so far. */
  tell(moved: number): void;
}

/** How often all keys are looked through at least: a slot that goes to another master meanwhile may be overlooked once. */
const LOOKS = 2;

/**
 * Moves what was in one slot to many (layout.ts), while no server runs: none starts until all is moved. If it is
 * stopped, the next run goes on; of several at once one does (one-run.ts). Resolves to how many keys it moved; undefined: the store
 * has many slots already.
 */
export async function moveToManySlots(
  redis: Connection,
  prefix: string,
  { sure, tell }: Moving,
): Promise<number | undefined> {
  const { oldest, slots: layout, run: runs } = schemaKeys(prefix);
  const { slots, clientKeys } = LAYOUTS.many(prefix);
  // A shard that does not let us write says so before any server is kept from starting.
  for await (const _ of redis.keys(`{${prefix}}:spent:`)) break;
  await Promise.all(slots.all.map((slot) => redis.touch(slot)));
  const keys = [oldest, layout, runs] as const;
  const begun = await redis.durable<[number, string]>(begin, keys, String(OLDEST_WITH_SLOTS));
  const [run, former] = begun;
  if (run === 0) return undefined;
  try {
    await sure();
  } catch (error) {
    if (former !== '') await redis.durable(takeBack, keys, String(run), former);
    throw error;
  }
  const mine = await inOneRun(redis, run, slots.all);
  let moved = 0;

  async function move(from: string): Promise<void> {
    const name = from.slice(`{${prefix}}:`.length);
    const to = `${slots.of(idIn(name))}:${name}`;
    const [kind, content, left] = await redis.script<[string, string[], number]>(read, [from]);
    if (kind === 'none') return;
    await mine.commands.durable(write, [to], kind, String(left), ...content);
    await redis.durableCommand('DEL', from);
    moved += 1;
  }

  for (const pattern of ['artefact:*', 'spent:*']) {
    for (let looks = 1, isFound = true; isFound || looks <= LOOKS; looks += 1) {
      isFound = false;
      for await (const found of redis.keys(`{${prefix}}:${pattern}`)) {
        if (found.length === 0) continue;
        isFound = true;
        await Promise.all(found.map(move));
        tell(moved);
      }
    }
  }

  const clients = redisClients(mine.commands, slots, clientKeys);
  const clientsBefore = clientKeysOfOneSlot(prefix);
  for await (const slice of scan(redis, clientsBefore[0])) {
    await Promise.all(slice.map(([, text]) => clients.add(JSON.parse(text) as ClientRecord)));
    moved += slice.length;
    tell(moved);
  }
  for (const key of clientsBefore) await redis.durableCommand('DEL', key);
  await mine.end();
  await redis.durableCommand('SET', layout, 'many');
  return moved;
}

/** Returns the id at the end of `artefact:KIND:ID` or `spent:DIGEST`; an id may have colons. */
const idIn = (name: string) => /^(?:artefact:[^:]*|spent):(.*)$/s.exec(name)?.[1] ?? '';
