import type { RedisSettings } from '../settings.ts';
import { silentLog } from '#shared/base/log.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { Connection } from './connection/connection.ts';
import { topologyOf } from './connection/topology.ts';

/** A server that a test has started. */
interface Server {
  /** Runs redis-cli, and returns its output. */
  cli(...args: readonly string[]): Promise<string>;
}

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

/** Servers of a test that are used as one; all masters of them. */
export const redisServers = (masters: readonly Server[]) => {
  const each = (...args: readonly string[]) =>
    Promise.all(masters.map((master) => master.cli(...args)));
  return {
    empty: async () => void (await each('FLUSHALL')),
    countKeys: async () => (await each('DBSIZE')).reduce((sum, size) => sum + Number(size), 0),
    /** The clock of a server cannot be moved: the times to live of what is there are shortened instead. */
    async passSeconds(seconds: number) {
      const shorten = `
        for _, key in ipairs(redis.call('KEYS', '*')) do
          local left = redis.call('PTTL', key)
          if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
        end`;
      await each('EVAL', shorten, '0', String(seconds * 1000));
    },
  };
};

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
