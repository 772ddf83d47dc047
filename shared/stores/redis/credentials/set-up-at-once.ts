import { type Commands, script } from '../connection/connection.ts';
import { revocationKeys } from '../revocation/revocation-stream.ts';
import { RAISE } from '../revocation/revocations.ts';
import type { Place } from './second-factor-keys.ts';
import type { SetUps } from './set-ups.ts';

/**
 * KEYS: second factors, their order, stream, generations. ARGV: milliseconds kept, person, record, the record that it
 * replaces or '', id, generation, until. -1: the record was changed; 0: the generation was raised.
 */
const setUp = script(`${RAISE}
if (redis.call('HGET', KEYS[1], ARGV[2]) or '') ~= ARGV[4] then return -1 end
local generation = redis.call('HGET', KEYS[4], 'person:' .. ARGV[5]) or '0'
if tonumber(generation) ~= tonumber(ARGV[6]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
redis.call('ZADD', KEYS[2], 0, ARGV[2])
return raise(KEYS[3], KEYS[4], 'person', ARGV[5], ARGV[7])
`);

/** One script does it where second factors are in the slot of the revocations. `kept`: milliseconds. */
export function setUpsAtOnce(redis: Commands, prefix: string, kept: string): SetUps {
  const { stream, generations } = revocationKeys(prefix);
  const find = ({ factors, person }: Place) =>
    redis.command<string | null>('HGET', factors, person);
  return {
    find,
    alone: find,
    async finish() {},
    async setUp({ accountId, person, factors, order }, { record, was, generation, until }) {
      const keys = [factors, order, stream, generations] as const;
      const written = [kept, person, record, was ?? ''];
      const expected = [accountId, String(generation), String(until)];
      const raised = await redis.durable<number>(setUp, keys, ...written, ...expected);
      if (raised > 0) return raised;
      if (raised < 0) return 'changed';
      await redis.settled(factors);
      return undefined;
    },
  };
}
