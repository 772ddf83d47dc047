import { forAll } from '#shared/base/for-all.ts';
import { evalScript, script } from './connection/connection.ts';
import { isAmidMove } from './connection/link.ts';
import type { Topology, Wire } from './connection/topology.ts';

/** The form of the keys; a change that older code would misread makes it one higher. */
export const VERSION = 1;
/** The oldest version whose code may work on keys of today's form. */
export const OLDEST = 1;

/** Where the version is, and the oldest one that is compatible, in one slot. `former`: where stores of before version 1 had theirs. */
export const schemaKeys = (prefix: string) => ({
  version: `{${prefix}}:version`,
  oldest: `{${prefix}}:version:oldest`,
  former: `{${prefix}}:schema`,
});

/** KEYS: version, oldest. ARGV: their values. Writes them where Redis has lost its memory. Replies with the oldest as it is. */
const restate = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('MSET', KEYS[1], ARGV[1], KEYS[2], ARGV[2]) end
return redis.call('GET', KEYS[2])
`);

const CHANGED = 'a newer version has changed the keys in Redis: start the newer version';

/** Milliseconds for which a process believes that it may work on the keys. */
const BELIEF = 5000;

interface KeepingSchema {
  /** Milliseconds of a clock that nobody sets. */
  monotonic(): number;
  /** Called with the reason once this process may not work on the store any more. */
  moved?: ((reason: string) => void) | undefined;
}

/**
 * The same servers, which nobody is sent to once the keys need a newer version: a process that goes on would misread what is in
 * them, and write what nobody finds. `doubt`: before anything else the version is looked at again.
 */
export function keepingSchema(
  servers: Topology,
  prefix: string,
  { monotonic, moved }: KeepingSchema,
): Topology & { doubt(): void } {
  const { version, oldest } = schemaKeys(prefix);
  let doubted = -Infinity;

  function kept(shared: Wire): Wire {
    let asked = -Infinity;
    const owners = new WeakMap<Wire, Wire>();
    const ask = forAll(async () => {
      const now = monotonic();
      const values = [String(VERSION), String(OLDEST)];
      const needed = await evalScript<string>(shared, restate, [version, oldest], values).catch(
        (error: unknown) => {
          if (isAmidMove(error)) return shared.send<string | null>(oldest, ['GET', oldest]);
          throw error;
        },
      );
      if (Number(needed) > VERSION) {
        moved?.(CHANGED);
        throw new Error(CHANGED);
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
