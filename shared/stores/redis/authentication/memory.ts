import type { Clock } from '#shared/base/clock.ts';
import type { Once, Proofs, Use } from '#shared/stores/authentication/proofs.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type Connection, type Script, script } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';

/**
 * `run()`: it is another one after each start of a server and after each promotion of a replica (`INFO`). It also changes
 * when the first replica joins a master, though nothing is lost then: the uses wait, and none is good again.
 */
export const RUN = `
local function run() return string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') end
`;

/**
 * The run whose memory it is, and from when on what is made cannot have been used before that. Where that stands of
 * another run, or not at all, servers may have forgotten: then the memory begins now. A clock that was ahead then keeps
 * nobody out for long. KEYS[1]: where it stands. ARGV[1]: what holds for a memory that begins now.
 */
const MEMORY = `${RUN}
local mine = run()
local known, from = string.match(redis.call('GET', KEYS[1]) or '', '^(%w+) (%d+)$')
if known ~= mine or tonumber(from) > tonumber(ARGV[1]) then
  from = ARGV[1]
  redis.call('SET', KEYS[1], mine .. ' ' .. from)
end
`;

/**
 * A script that uses KEYS[2] unless it may have been used before: it replies with 1 for the first use and with 0 for another
 * one. ARGV[3]: milliseconds for which it is remembered.
 */
export const inMemory = (use: string): Script =>
  script(`${MEMORY}
if tonumber(ARGV[2]) < tonumber(from) then return from end
${use}`);

const look = script(MEMORY);

/** Where no memory has begun yet, whatever is made is new. */
const first = script(`${RUN}
redis.call('SET', KEYS[1], run() .. ' 0', 'NX')
`);

/** Remembers the uses of things that are good once, in one slot with when that began. */
export interface Memory {
  /** Uses `key`, by a script of `inMemory`, and waits for the replicas. Rejects while nothing can be told of what is made now. */
  use(body: Script, key: string, once: Once, ...args: readonly string[]): Promise<Use>;
  /**
   * Lets a memory begin now that Redis has lost the one before: at the start of a server, and not with the first use, which
   * would have to wait. `isNew`: the store is new, and nothing was ever used in it.
   */
  look(isNew?: boolean): Promise<void>;
}

export interface MemoryOptions {
  readonly prefix: string;
  readonly clock: Clock;
  /** Seconds by which the clocks of our servers may differ. */
  readonly skew: number;
}

/** `{prefix:once}:memory` and `{prefix:once}:{key}`. */
export function redisMemory(redis: Connection, { prefix, clock, skew }: MemoryOptions): Memory {
  const named = (key: string) => `{${prefix}:once}:${key}`;
  const mark = named('memory');
  /** A whole second, as nonces have. */
  const ifBegunNow = () => Math.ceil(clock.now() / 1000 + skew) * 1000;
  return {
    async use(body, key, { made, seconds }, ...args) {
      const times = [ifBegunNow(), Math.floor(made), Math.max(1, Math.ceil(seconds * 1000))];
      const reply = await redis.durable<number | string>(
        body,
        [mark, named(key)],
        ...times.map(String),
        ...args,
      );
      if (typeof reply === 'number') return reply === 1 ? 'first' : 'used';
      if (clock.now() >= Number(reply)) return 'forgotten';
      throw new StoreUnavailable('Redis has just begun to remember what was used');
    },
    async look(isNew = false) {
      await (isNew
        ? redis.durable(first, [mark])
        : redis.durable(look, [mark], String(ifBegunNow())));
    },
  };
}

const spend = inMemory(`
if redis.call('SET', KEYS[2], '', 'NX', 'PX', ARGV[3]) then return 1 end
return 0
`);

/** `{namespace}:{SHA-256 of the key}`: there for as long as the key counts as used. */
export function redisProofs(memory: Memory): Proofs {
  return {
    spend: (namespace, key, once) => memory.use(spend, `${namespace}:${digestOf(key)}`, once),
  };
}
