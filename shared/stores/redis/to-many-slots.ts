import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { type Connection, script } from './connection/connection.ts';
import { scan } from './connection/scan.ts';
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

/** KEYS: schema, oldest, slots. ARGV: the oldest compatible schema. 0: all is moved already. */
const begin = script(`
if redis.call('GET', KEYS[3]) == 'many' then return 0 end
redis.call('SET', KEYS[2], ARGV[1])
redis.call('SET', KEYS[3], 'moving')
return 1
`);

/**
 * Moves what was in one slot to many (layout.ts), while no server runs: none starts until all is moved. If it is
 * stopped, the next run goes on. `tell` is told how many keys were moved so far. Resolves to that number at the end; undefined:
 * the store has many slots already.
 */
export async function moveToManySlots(
  redis: Connection,
  prefix: string,
  tell: (moved: number) => void,
): Promise<number | undefined> {
  const { oldest, slots: layout } = schemaKeys(prefix);
  const begun = await redis.durable<number>(
    begin,
    [schemaKeys(prefix).schema, oldest, layout],
    String(OLDEST_WITH_SLOTS),
  );
  if (begun === 0) return undefined;
  const { slots, clientKeys } = LAYOUTS.many(prefix);
  let moved = 0;

  async function move(from: string): Promise<void> {
    const name = from.slice(`{${prefix}}:`.length);
    const to = `${slots.of(idIn(name))}:${name}`;
    const [kind, content, left] = await redis.script<[string, string[], number]>(read, [from]);
    if (kind === 'none') return;
    await redis.durable(write, [to], kind, String(left), ...content);
    await redis.durableCommand('DEL', from);
    moved += 1;
  }

  for (const pattern of ['artefact:*', 'spent:*']) {
    for await (const keys of redis.keys(`{${prefix}}:${pattern}`)) {
      await Promise.all(keys.map(move));
      tell(moved);
    }
  }

  const clients = redisClients(redis, slots, clientKeys);
  const former = clientKeysOfOneSlot(prefix);
  for await (const slice of scan(redis, former[0])) {
    await Promise.all(slice.map(([, text]) => clients.add(JSON.parse(text) as ClientRecord)));
    moved += slice.length;
    tell(moved);
  }
  for (const key of former) await redis.durableCommand('DEL', key);
  await redis.durableCommand('SET', layout, 'many');
  return moved;
}

/** Returns the id at the end of `artefact:KIND:ID` or `spent:DIGEST`; an id may have colons. */
const idIn = (name: string) => /^(?:artefact:[^:]*|spent):(.*)$/s.exec(name)?.[1] ?? '';
