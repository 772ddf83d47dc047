import type { Clock } from '#shared/base/clock.ts';
import type { Once, Proofs, Use } from '#shared/stores/authentication/proofs.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type Connection, type Script, script } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';

/**
 * `run()` returns the run of Redis: each start and each promotion of a replica begins another run (`INFO`). The first
 * replica of a master begins a run, too, though nothing is lost: clients then repeat their requests once.
 */
export const RUN = `
local function run() return string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') end
`;

/**
 * KEYS[1] has the run of the memory, and the time from when it is complete: a proof that was made later was not used
 * before. In another run, or without the key, Redis may have forgotten uses, so the memory begins now. A clock that was
 * ahead causes only a short wait. ARGV[1]: the time for a memory that begins now.
 */
const MEMORY = `${RUN}
local mine = run()
local known, from = string.match(redis.call('GET', KEYS[1]) or '', '^(%w+) (%d+)$')
if known ~= mine or tonumber(from) > tonumber(ARGV[1]) then
  from = ARGV[1]
  redis.call('SET', KEYS[1], mine .. ' ' .. from)
end
`;

/** Returns a script that uses KEYS[2]: 1 for the first use, 0 for a later one, a time if it may be forgotten. */
export const inMemory = (use: string): Script =>
  script(`${MEMORY}
if tonumber(ARGV[2]) < tonumber(from) then return from end
${use}`);

const look = script(MEMORY);

/** In a new store nothing was used before. */
const first = script(`${RUN}
redis.call('SET', KEYS[1], run() .. ' 0', 'NX')
`);

/** The memory of uses in Redis: all keys are in one slot, with the mark of the memory. */
export interface Memory {
  /** Uses `key` by a script of `inMemory`, and waits for the replicas. Rejects while the memory is too new. */
  use(body: Script, key: string, once: Once, ...args: readonly string[]): Promise<Use>;
  /** Begins a memory if Redis has lost the last one, so that the first use need not wait. `isNew`: the store is new. */
  look(isNew?: boolean): Promise<void>;
}

export interface MemoryOptions {
  readonly prefix: string;
  readonly clock: Clock;
  /** Seconds by which the clocks of our servers may differ. */
  readonly skew: number;
}

/** The keys are `{prefix:once}:memory` and `{prefix:once}:{key}`. */
export function redisMemory(redis: Connection, { prefix, clock, skew }: MemoryOptions): Memory {
  const named = (key: string) => `{${prefix}:once}:${key}`;
  const mark = named('memory');
  /** Nonces have whole seconds. */
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

/** The key `{namespace}:{SHA-256 of the key}` exists while the proof counts as used. */
export function redisProofs(memory: Memory): Proofs {
  return {
    spend: (namespace, key, once) => memory.use(spend, `${namespace}:${digestOf(key)}`, once),
  };
}
