import type { Clock } from '#shared/base/clock.ts';
import type { SpentTokens } from '#shared/stores/authentication/spent-tokens.ts';
import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';
import type { Slots } from '../connection/slots.ts';

/** ARGV: seconds, which end with a second of the server's clock: of two tokens none tells which was first. */
const spend = script(`
local time = redis.call('TIME')
local ends = math.ceil(time[1] + time[2] / 1000000 + ARGV[1])
if redis.call('SET', KEYS[1], '', 'NX', 'EXAT', string.format('%.0f', ends)) then return 1 end
return 0
`);

/**
 * `{slot}:spent:{SHA-256 of the token}`: there for as long as the token could be taken. It waits for the replicas, so that
 * what was spent stays so when one of them takes over.
 */
export function redisSpentTokens(redis: Connection, slots: Slots, clock: Clock): SpentTokens {
  return {
    async spend(token, until) {
      const left = (until - clock.now()) / 1000;
      if (left <= 0) return false;
      const digest = digestOf(token);
      const name = `${slots.of(digest)}:spent:${digest}`;
      return (await redis.durable<number>(spend, [name], String(left))) === 1;
    },
  };
}
