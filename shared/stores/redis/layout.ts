import { forAll } from '#shared/base/for-all.ts';
import { type Connection, evalScript, script } from './connection/connection.ts';
import { isAmidMove } from './connection/link.ts';
import { manySlots, oneSlot, type Slots } from './connection/slots.ts';
import type { Topology, Wire } from './connection/topology.ts';
import { OLDEST, SCHEMA, schemaKeys } from './migrations/migrate.ts';
import { clientKeysOf, clientKeysOfOneSlot, type KeysOf } from './oauth/clients.ts';

/** Where the keys of a store are. */
export interface Layout {
  /** As the store has it; null: it has no such row, which a store of before schema 13 has not. */
  readonly name: 'many' | 'all' | null;
  /** The oldest schema that is compatible with it. */
  readonly oldest: number;
  /** Where tokens, sign-ins, grants and clients are. */
  readonly slots: Slots;
  readonly clientKeys: KeysOf;
  /** Where people are, what lets them in, and what is kept for them. */
  readonly peopleSlots: Slots;
}

/** How a store begins, and what `countersign redis spread` makes of an older one. */
export const NEWEST = { name: 'all', oldest: 14 } as const;

/**
 * A store of before schema 13 has one slot, and one of schema 13 still has one for people, until `countersign redis spread` has
 * moved it.
 */
export const LAYOUTS = {
  one: (prefix: string): Layout => ({
    name: null,
    oldest: OLDEST,
    slots: oneSlot(prefix),
    clientKeys: () => clientKeysOfOneSlot(prefix),
    peopleSlots: oneSlot(prefix),
  }),
  many: (prefix: string): Layout => ({
    name: 'many',
    oldest: 13,
    slots: manySlots(prefix),
    clientKeys: clientKeysOf,
    peopleSlots: oneSlot(prefix),
  }),
  all: (prefix: string): Layout => ({
    ...NEWEST,
    slots: manySlots(prefix),
    clientKeys: clientKeysOf,
    peopleSlots: manySlots(prefix),
  }),
} as const;

/** Undefined while keys are under way. */
const layoutNamed = (name: string | null, prefix: string): Layout | undefined =>
  Object.values(LAYOUTS)
    .map((layout) => layout(prefix))
    .find((layout) => layout.name === name);

const nameIn = (redis: Connection, prefix: string) =>
  redis.command<string | null>('GET', schemaKeys(prefix).slots);

/** Resolves to the layout of the store. Rejects with the reason if keys are under way from one to the other. */
export async function layoutOf(redis: Connection, prefix: string): Promise<Layout> {
  const found = layoutNamed(await nameIn(redis, prefix), prefix);
  if (found !== undefined) return found;
  throw new Error(
    'the keys in Redis are being moved to many slots: run `countersign redis spread` to its end, then start the servers',
  );
}

/**
 * KEYS: schema, oldest, slots. ARGV: their values, the last one or ''. Writes them where Redis has lost its memory. Replies
 * with the last as it is.
 */
const restate = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('MSET', KEYS[1], ARGV[1], KEYS[2], ARGV[2])
  if ARGV[3] ~= '' then redis.call('SET', KEYS[3], ARGV[3]) end
end
return redis.call('GET', KEYS[3])
`);

const MOVED = 'the keys in Redis are in other slots than at the start: restart this server';

/**
 * Milliseconds for which a process believes that the store has the layout that it knows. `redis spread` waits for longer
 * before it moves anything.
 */
const BELIEF = 5000;

export interface KeepingLayout {
  /** Returns the layout to keep, once it is known. */
  expected(): Layout | undefined;
  /** Milliseconds of a clock that nobody sets. */
  monotonic(): number;
  /** Called with the reason once the whole store has another layout, so that a process which starts now works on it. */
  moved?: ((reason: string) => void) | undefined;
}

/**
 * The same servers, which nobody is sent to while the store has another layout than expected: a process that goes on would
 * find nothing in it, and write what nobody finds. `doubt`: before anything else the layout is looked at again.
 */
export function keepingLayout(
  servers: Topology,
  prefix: string,
  { expected, monotonic, moved }: KeepingLayout,
): Topology & { doubt(): void } {
  let doubted = -Infinity;

  function kept(shared: Wire): Wire {
    let asked = -Infinity;
    const owners = new WeakMap<Wire, Wire>();
    const ask = forAll(async () => {
      const layout = expected();
      if (layout === undefined) return;
      const now = monotonic();
      const { schema, oldest, slots } = schemaKeys(prefix);
      const values = [String(SCHEMA), String(layout.oldest), layout.name ?? ''];
      const keys = [schema, oldest, slots] as const;
      const name = await evalScript<string | null>(shared, restate, keys, values).catch(
        (error: unknown) => {
          if (isAmidMove(error)) return shared.send<string | null>(slots, ['GET', slots]);
          throw error;
        },
      );
      if (name !== layout.name) {
        if (layoutNamed(name, prefix)) moved?.(MOVED);
        throw new Error(MOVED);
      }
      asked = now;
    });
    const asking = (wire: Wire): Wire => ({
      get open() {
        return wire.open;
      },
      send<T>(key: string, command: readonly string[]) {
        const isSure = asked > doubted && monotonic() - asked < BELIEF;
        return isSure ? wire.send<T>(key, command) : ask().then(() => wire.send<T>(key, command));
      },
      owner: async (key) => known(await wire.owner(key)),
      async redirected(error, key) {
        const other = await wire.redirected?.(error, key);
        return other && known(other);
      },
    });
    const known = (owner: Wire): Wire => {
      const wire = owners.get(owner) ?? asking(owner);
      owners.set(owner, wire);
      return wire;
    };
    return asking(shared);
  }

  return {
    masters: (life) => servers.masters(life),
    shared: async (life) => kept(await servers.shared(life)),
    doubt() {
      doubted = monotonic();
    },
  };
}
