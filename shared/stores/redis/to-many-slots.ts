import type { Random } from '#shared/base/random.ts';
import { type Connection, script } from './connection/connection.ts';
import { LAYOUTS, NEWEST } from './layout.ts';
import { schemaKeys } from './migrations/migrate.ts';
import { moveAudit } from './moving/audit.ts';
import { moveApiKeys } from './moving/api-keys.ts';
import { moveClientGrants } from './moving/client-grants.ts';
import { moveClients } from './moving/clients.ts';
import type { Mover } from './moving/move.ts';
import { moveOutbox } from './moving/outbox.ts';
import { movePasskeys, movePeople } from './moving/people.ts';
import { movePublicKeys } from './moving/public-keys.ts';
import { movePush } from './moving/push.ts';
import { moveSecondFactors } from './moving/second-factors.ts';
import { moveTokens } from './moving/tokens.ts';
import { inOneRun } from './one-run.ts';

/** In this order. */
const MOVERS: readonly Mover[] = [
  moveTokens,
  moveClients,
  movePeople,
  movePasskeys,
  moveApiKeys,
  movePublicKeys,
  moveOutbox,
  movePush,
  moveSecondFactors,
  moveClientGrants,
  moveAudit,
];

/**
 * KEYS: oldest, slots, run. ARGV: the oldest compatible schema, the newest layout. Replies with the number of this run, 0: all is
 * moved already; and with the oldest schema and the layout before a first run, else with nothing.
 */
const begin = script(`
local found = redis.call('GET', KEYS[2]) or ''
if found == ARGV[2] then return { 0 } end
local oldest = redis.call('GET', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], 'moving')
local run = redis.call('INCR', KEYS[3])
return found == 'moving' and { run } or { run, oldest, found }
`);

/** The same KEYS. ARGV: the number of the run, the oldest schema and the layout before it. Nothing was moved yet. */
const takeBack = script(`
if redis.call('GET', KEYS[3]) ~= ARGV[1] or redis.call('GET', KEYS[2]) ~= 'moving' then return end
redis.call('SET', KEYS[1], ARGV[2])
if ARGV[3] == '' then redis.call('DEL', KEYS[2]) else redis.call('SET', KEYS[2], ARGV[3]) end
`);

export interface Moving {
  readonly random: Random;
  /** Called when no server can start any more. Rejects if one runs all the same: then nothing is moved. */
  sure(): Promise<void>;
  /** Told how many keys were moved so far. */
  tell(moved: number): void;
}

/**
 * Moves what was in one slot to many (layout.ts), while no server runs: none starts until all is moved. If it is
 * stopped, the next run goes on; of several at once one does (one-run.ts). Resolves to how many keys it moved; undefined: the store
 * has all in many slots already.
 */
export async function moveToManySlots(
  redis: Connection,
  prefix: string,
  { random, sure, tell }: Moving,
): Promise<number | undefined> {
  const { oldest, slots: layout, run: runs } = schemaKeys(prefix);
  const { slots } = LAYOUTS[NEWEST.name](prefix);
  // A shard that does not let us write says so before any server is kept from starting.
  for await (const _ of redis.keys(`{${prefix}}:spent:`)) break;
  await Promise.all(slots.all.map((slot) => redis.touch(slot)));
  const keys = [oldest, layout, runs] as const;
  const begun = await redis.durable<[number, ...string[]]>(
    begin,
    keys,
    String(NEWEST.oldest),
    NEWEST.name,
  );
  const [run, ...former] = begun;
  if (run === 0) return undefined;
  try {
    await sure();
  } catch (error) {
    if (former.length > 0) await redis.durable(takeBack, keys, String(run), ...former);
    throw error;
  }
  const { commands: mine, end } = await inOneRun(redis, run, slots.all);
  let moved = 0;
  const count = (more: number) => tell((moved += more));
  for (const move of MOVERS) await move({ redis, mine, prefix, slots, random, count });
  await end();
  await redis.durableCommand('SET', layout, NEWEST.name);
  return moved;
}
