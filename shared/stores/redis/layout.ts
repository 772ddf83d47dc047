import { type Connection, evalScript, script } from './connection/connection.ts';
import { manySlots, oneSlot, type Slots } from './connection/slots.ts';
import type { Topology } from './connection/topology.ts';
import { OLDEST, OLDEST_WITH_SLOTS, SCHEMA, schemaKeys } from './migrations/migrate.ts';
import { clientKeysOf, clientKeysOfOneSlot, type KeysOf } from './oauth/clients.ts';

/** Where the keys of a store are. */
export interface Layout {
  /** As the store has it; null: it has no such row, which a store of before schema 13 has not. */
  readonly name: 'many' | null;
  /** The oldest schema that is compatible with it. */
  readonly oldest: number;
  readonly slots: Slots;
  readonly clientKeys: KeysOf;
}

/** A store of before schema 13 has one slot until `countersign redis spread` has moved it. A new one has many. */
export const LAYOUTS = {
  one: (prefix: string): Layout => ({
    name: null,
    oldest: OLDEST,
    slots: oneSlot(prefix),
    clientKeys: () => clientKeysOfOneSlot(prefix),
  }),
  many: (prefix: string): Layout => ({
    name: 'many',
    oldest: OLDEST_WITH_SLOTS,
    slots: manySlots(prefix),
    clientKeys: clientKeysOf,
  }),
} as const;

const nameIn = (redis: Connection, prefix: string) =>
  redis.command<string | null>('GET', schemaKeys(prefix).slots);

/** Resolves to the layout of the store. Rejects with the reason if keys are under way from one to the other. */
export async function layoutOf(redis: Connection, prefix: string): Promise<Layout> {
  const name = await nameIn(redis, prefix);
  const found = Object.values(LAYOUTS)
    .map((layout) => layout(prefix))
    .find((layout) => layout.name === name);
  if (found !== undefined) return found;
  throw new Error(
    'the keys in Redis are being moved to many slots: run `countersign redis spread` to its end, then start the servers',
  );
}

/** KEYS: schema, oldest, slots. ARGV: their values, the last one or ''. Writes them where Redis has lost its memory. */
const restate = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('MSET', KEYS[1], ARGV[1], KEYS[2], ARGV[2])
  if ARGV[3] ~= '' then redis.call('SET', KEYS[3], ARGV[3]) end
end
if (redis.call('GET', KEYS[3]) or '') ~= ARGV[3] then
  return redis.error_reply('ERR the keys are in other slots than at the start: restart this server')
end
`);

function restating(prefix: string, { name, oldest }: Layout) {
  const keys = schemaKeys(prefix);
  const args = [String(SCHEMA), String(oldest), name ?? ''];
  return [restate, [keys.schema, keys.oldest, keys.slots], args] as const;
}

/** Rejects with `StoreUnavailable` if the store has another layout by now, and lets the connections be replaced. */
export async function expectLayout(
  redis: Connection,
  prefix: string,
  layout: Layout,
): Promise<void> {
  const [body, keys, args] = restating(prefix, layout);
  await Promise.all([redis.script(body, keys, ...args), redis.durable(body, keys, ...args)]);
}

/**
 * The same servers, to which no connection opens while the store has another layout than `expected` returns: a process that
 * runs would find nothing in it, and write what nobody finds.
 */
export function keepingLayout(
  topology: Topology,
  prefix: string,
  expected: () => Layout | undefined,
): Topology {
  return {
    ...topology,
    async shared(life) {
      const wire = await topology.shared(life);
      const layout = expected();
      if (layout !== undefined) await evalScript(wire, ...restating(prefix, layout));
      return wire;
    },
  };
}
