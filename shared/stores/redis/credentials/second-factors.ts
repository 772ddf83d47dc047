import { personText } from '#shared/stores/credentials/passkey-changes.ts';
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
import { SLICE, slices } from '#shared/stores/people/slices.ts';
import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';

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

/** KEYS: second factors, their order. ARGV: person. */
const remove = script(`
redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('HDEL', KEYS[1], ARGV[1])
`);

/** KEYS: second factors, their order. ARGV: after which person, how many at most. */
const slice = script(`
local people = redis.call('ZRANGE', KEYS[2], ARGV[1], '+', 'BYLEX', 'LIMIT', 0, ARGV[2])
if #people == 0 then return {} end
return redis.call('HMGET', KEYS[1], unpack(people))
`);

/**
 * The hash `{prefix}:second-factors`, person to JSON, and the sorted set `{prefix}:second-factors:order` of the people.
 * In the slot of the revocations, so that a used code is as durable as they are.
 */
export function redisSecondFactors(redis: Connection, prefix: string): SecondFactors {
  const factors = `{${prefix}}:second-factors`;
  const order = `{${prefix}}:second-factors:order`;
  const parsed = (record: string): SecondFactorRecord => JSON.parse(record);
  const find = (accountId: string) =>
    redis.command<string | null>('HGET', factors, personText(accountId));

  /** Made again when the second factor was changed in between. */
  async function change(accountId: string, changed: SecondFactorChange): Promise<boolean> {
    for (;;) {
      const was = await find(accountId);
      const after = was === null ? undefined : changed(parsed(was));
      if (was === null || after === undefined) {
        await redis.settled(factors);
        return false;
      }
      const person = personText(accountId);
      const record = JSON.stringify(after);
      if ((await redis.durable<number>(replace, [factors], person, record, was)) === 1) return true;
    }
  }

  return {
    async add(factor) {
      const person = personText(factor.accountId);
      const record = JSON.stringify(factor);
      const added = await redis.durable<number>(add, [factors, order], person, record);
      return added === 1;
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
    useStep: (accountId, id, step, at) => change(accountId, useOfStep(id, step, at)),
    useRecovery: (accountId, mac, at) => change(accountId, useOfRecovery(mac, at)),
    renewRecovery: (accountId, id, macs) => change(accountId, renewalOfRecovery(id, macs)),
    async remove(accountId) {
      const removed = await redis.durable<number>(remove, [factors, order], personText(accountId));
      if (removed === 0) await redis.settled(factors);
      return removed === 1;
    },
  };
}
