import { ManualClock, systemClock } from '#shared/base/clock.ts';
import type { RedisSettings } from '../settings.ts';
import { silentLog } from '#shared/base/log.ts';
import type { Log } from '#shared/base/log.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { StoreUnderTest } from '../contract/store-under-test.ts';
import { besideParts } from './beside.ts';
import { Connection } from './connection/connection.ts';
import { topologyOf } from './connection/topology.ts';
import { openRedis } from './open.ts';
import { OLDEST, schemaKeys, VERSION } from './schema.ts';

/** A server that a test has started. */
interface Server {
  /** Runs redis-cli, and returns its output. */
  cli(...args: readonly string[]): Promise<string>;
}

const LONGEST_LIFE = 86_400;
/** Seconds. */
const PATIENT = { deadline: 10 };

/** A configuration with the defaults of the schema. */
export function redisConfig(
  config: Partial<RedisSettings> & Pick<RedisSettings, 'urls'>,
): RedisSettings {
  return {
    mode: 'single',
    master: 'mymaster',
    prefix: 'test',
    replicas: 0,
    deadline: 1,
    ...config,
  };
}

export function openTestRedis(
  config: RedisSettings,
  clock = new ManualClock(),
  log: Log = silentLog,
): Promise<Stores> {
  return openRedis(config, { clock, random: systemRandom, log, longestLife: LONGEST_LIFE });
}

/** Opens a store that waits long, for tests that do not measure how long an answer takes. */
export const openPatiently = (config: RedisSettings, clock?: ManualClock): Promise<Stores> =>
  openTestRedis({ ...config, ...PATIENT }, clock);

/** Writes what a process writes that opens an empty Redis. In a cluster only the owner of the slot takes it. */
const begun = (redis: Server, prefix: string) => {
  const { version, oldest } = schemaKeys(prefix);
  return redis.cli('MSET', version, String(VERSION), oldest, String(OLDEST));
};

/** The clock of a server cannot be moved: the times to live of what is there are shortened instead. */
async function passSeconds(masters: readonly Server[], seconds: number): Promise<void> {
  const shorten = `
    for _, key in ipairs(redis.call('KEYS', '*')) do
      local left = redis.call('PTTL', key)
      if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
    end`;
  const milliseconds = String(seconds * 1000);
  await Promise.all(masters.map((master) => master.cli('EVAL', shorten, '0', milliseconds)));
}

async function countAll(masters: readonly Server[]): Promise<number> {
  const sizes = await Promise.all(masters.map((master) => master.cli('DBSIZE')));
  return sizes.reduce((sum, size) => sum + Number(size), 0);
}

/** Opens a connection that waits long, for tests that do not measure how long an answer takes. `deadline`: milliseconds. */
export async function connectPatiently(
  config: RedisSettings,
  deadline = PATIENT.deadline * 1000,
): Promise<Connection> {
  const topology = topologyOf(config, { deadline, monotonic: () => performance.now() });
  const redis = new Connection(topology, config.replicas, silentLog, deadline);
  await redis.open(1);
  return redis;
}

/** A record with real servers beside it, for the contract. */
export function besideUnderTest(
  record: StoreUnderTest,
  config: RedisSettings,
  masters: readonly Server[],
  parts: AsyncDisposable,
): StoreUnderTest {
  const { clock } = record;
  const options = { prefix: config.prefix, clock, random: systemRandom, skew: 5 };
  return {
    ...record,
    async open() {
      const redis = await connectPatiently(config);
      const stores = await record.open();
      return {
        ...stores,
        ...besideParts(redis, options),
        async [Symbol.asyncDispose]() {
          redis[Symbol.dispose]();
          await stores[Symbol.asyncDispose]();
        },
      };
    },
    countAll: async () => (await record.countAll()) + (await countAll(masters)),
    async passSeconds(seconds) {
      await record.passSeconds(seconds);
      await passSeconds(masters, seconds);
    },
    async forget() {
      await Promise.all(masters.map((master) => master.cli('FLUSHALL')));
      await record.forget();
    },
    async end() {
      await record.end();
      await parts[Symbol.asyncDispose]();
    },
  };
}

/** Real servers for the contract. */
export function redisUnderTest(
  config: RedisSettings,
  masters: readonly Server[],
  parts: AsyncDisposable,
): StoreUnderTest {
  const clock = new ManualClock(systemClock.now());
  return {
    clock,
    spec: () => ({
      store: { kind: 'redis', ...config, ...PATIENT },
      data: '',
      revocations: { lease: 0.2 },
      tokens: { skew: 5 },
      now: clock.now(),
      longestLife: LONGEST_LIFE,
    }),
    open: () => openPatiently(config, clock),
    countAll: () => countAll(masters),
    async passSeconds(seconds) {
      clock.advance(seconds);
      await passSeconds(masters, seconds);
    },
    async forget() {
      await Promise.all(masters.map((master) => master.cli('FLUSHALL')));
      await Promise.all(masters.map((master) => begun(master, config.prefix)));
    },
    end: async () => parts[Symbol.asyncDispose](),
  };
}

/** Claims of a token that nothing but its epoch could revoke. */
export async function someClaims(
  stores: Stores,
  changes: Partial<RevocableClaims> = {},
): Promise<RevocableClaims> {
  return {
    jti: randomId(systemRandom),
    kid: randomId(systemRandom),
    sub: randomId(systemRandom),
    client_id: randomId(systemRandom),
    client_gen: 0,
    epoch: (await stores.revocations.epoch(true)) ?? '',
    ...changes,
  };
}
