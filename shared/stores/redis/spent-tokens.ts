import type { Clock } from '#shared/clock.ts';
import type { SpentTokens } from '#shared/stores/spent-tokens.ts';
import { script } from './connection.ts';
import type { Connection } from './connection.ts';
import { digest } from './digest.ts';

/** ARGV: milliseconds. */
const spend = script(`
if redis.call('SET', KEYS[1], '', 'NX', 'PX', ARGV[1]) then return 1 end
return 0
`);

/**
 * `{prefix}:spent:{SHA-256 of the token}`: there for as long as the token could be taken. In the slot of
 * the revocations, so that it is as durable as they are: what was spent stays so when a replica takes over.
 */
export function redisSpentTokens(redis: Connection, prefix: string, clock: Clock): SpentTokens {
  return {
    async spend(token, until) {
      const left = Math.ceil(until - clock.now());
      if (left <= 0) return false;
      const name = `{${prefix}}:spent:${digest(token)}`;
      return (await redis.durable<number>(spend, [name], String(left))) === 1;
    },
  };
}
