import { personText } from '#shared/stores/people/new-passkey.ts';
import {
  renewalOfRecovery,
  useOfRecovery,
  useOfStep,
} from '#shared/stores/credentials/second-factor-changes.ts';
import type { SecondFactorChange } from '#shared/stores/credentials/second-factor-changes.ts';
import type {
  SecondFactorRecord,
  SecondFactors,
} from '#shared/stores/credentials/second-factors.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { SLICE, slices } from '#shared/stores/people/slices.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { RAISE } from '../revocation/revocations.ts';
import { revocationKeys } from '../revocation/revocation-stream.ts';

/** KEYS: second factors, their order. ARGV: person, record. */
const add = script(`
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return 1
`);

/** KEYS: second factors. ARGV: person, record, the record that it replaces. */
const replace = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
`);

/** KEYS: second factors, their order. ARGV: person, the record that is removed. */
const remove = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('HDEL', KEYS[1], ARGV[1])
`);

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

/** KEYS: second factors, their order. ARGV: after which person, how many at most. */
const slice = script(`
local people = redis.call('ZRANGE', KEYS[2], ARGV[1], '+', 'BYLEX', 'LIMIT', 0, ARGV[2])
if #people == 0 then return {} end
return redis.call('HMGET', KEYS[1], unpack(people))
`);

/**
 * The hash `{prefix}:second-factors`, person to JSON, and the sorted set `{prefix}:second-factors:order` of the people.
 * In the slot of the revocations, so that a used code is as durable as they are, and a set-up raises the generation in
 * one step. `longestLife`: seconds that a token may live, the skew included.
 */
export function redisSecondFactors(
  redis: Commands,
  prefix: string,
  longestLife: number,
): SecondFactors {
  const factors = `{${prefix}}:second-factors`;
  const order = `{${prefix}}:second-factors:order`;
  const { stream, generations } = revocationKeys(prefix);
  const kept = String(rememberUntil(0, longestLife));
  const parsed = (record: string): SecondFactorRecord => JSON.parse(record);
  const find = (accountId: string) =>
    redis.command<string | null>('HGET', factors, personText(accountId));

  /**
   * Resolves to what it is after the change; undefined: refused. Made again when the second factor was changed in between.
   */
  async function change(
    accountId: string,
    changed: SecondFactorChange,
  ): Promise<SecondFactorRecord | undefined> {
    const person = personText(accountId);
    for (;;) {
      const was = await find(accountId);
      const after = was === null ? undefined : changed(parsed(was));
      if (was === null || after === undefined) {
        await redis.settled(factors);
        return undefined;
      }
      const record = JSON.stringify(after);
      if ((await redis.durable<number>(replace, [factors], person, record, was)) === 1)
        return after;
    }
  }

  return {
    async add(factor) {
      const person = personText(factor.accountId);
      const record = JSON.stringify(factor);
      const added = await redis.durable<number>(add, [factors, order], person, record);
      return added === 1;
    },
    async setUp({ factor, replaces, generation, until }) {
      const { accountId } = factor;
      const keys = [factors, order, stream, generations] as const;
      const [person, record] = [personText(accountId), JSON.stringify(factor)];
      const expected = [accountId, String(generation), String(until)];
      for (;;) {
        const was = await find(accountId);
        const raised =
          (was === null ? undefined : parsed(was).id) === replaces
            ? await redis.durable<number>(
                setUp,
                [...keys],
                kept,
                person,
                record,
                was ?? '',
                ...expected,
              )
            : 0;
        if (raised > 0) return raised;
        if (raised === 0) {
          await redis.settled(factors);
          return undefined;
        }
      }
    },
    async get(accountId) {
      const record = await find(accountId);
      return record === null ? undefined : parsed(record);
    },
    list: () =>
      slices<SecondFactorRecord>(async (last) => {
        const after = last ? `(${personText(last.accountId)}` : '-';
        const found = await redis.script<string[]>(slice, [factors, order], after, String(SLICE));
        return found.map(parsed);
      }),
    useStep: async (accountId, id, step, at) =>
      (await change(accountId, useOfStep(id, step, at))) !== undefined,
    useRecovery: async (accountId, mac, at) =>
      (await change(accountId, useOfRecovery(mac, at)))?.recovery.length,
    renewRecovery: async (seen, macs) =>
      (await change(seen.accountId, renewalOfRecovery(seen, macs))) !== undefined,
    async remove(accountId, id) {
      const person = personText(accountId);
      for (;;) {
        const was = await find(accountId);
        if (was === null || (id !== undefined && parsed(was).id !== id)) {
          await redis.settled(factors);
          return false;
        }
        if ((await redis.durable<number>(remove, [factors, order], person, was)) === 1) return true;
      }
    },
  };
}
