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
import { personText } from '#shared/stores/people/new-passkey.ts';
import { SLICE, slices } from '#shared/stores/people/slices.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import type { Random } from '#shared/base/random.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';
import type { Slots } from '../connection/slots.ts';
import { replaceField } from '../connection/replace-field.ts';
import { type Place, placeIn, secondFactorKeys } from './second-factor-keys.ts';
import { setUpsInSteps } from './set-up-in-steps.ts';

/** KEYS: second factors, their order, set-ups. ARGV: person, record. */
const add = script(`
if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return -1 end
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return 1
`);

const keysOf = ({ factors, order, setUps }: Place) => [factors, order, setUps] as const;

/** Resolves to 1: it was added; 0: the person has one; -1: a set-up is under way. */
const addFactor = (redis: Commands, place: Place, record: string): Promise<number> =>
  redis.durable<number>(add, keysOf(place), place.person, record);

/** KEYS: second factors, their order, set-ups. ARGV: person, the record that is removed. -1: a set-up is under way. */
const remove = script(`
if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return -1 end
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('HDEL', KEYS[1], ARGV[1])
`);

/** KEYS: second factors, their order. ARGV: after which person, how many at most. */
const slice = script(`
local people = redis.call('ZRANGE', KEYS[2], ARGV[1], '+', 'BYLEX', 'LIMIT', 0, ARGV[2])
if #people == 0 then return {} end
return redis.call('HMGET', KEYS[1], unpack(people))
`);

export interface SecondFactorOptions {
  readonly prefix: string;
  /** Those of people. */
  readonly slots: Slots;
  readonly random: Random;
  /** Seconds that a token may live, the skew included. */
  readonly longestLife: number;
}

/**
 * Second factors are in the slots of the digests of their people's ids. `ofFactors`: the connection for the second factors
 * themselves and for what sets them up.
 */
export function redisSecondFactors(
  redis: Commands,
  { prefix, slots, random, longestLife }: SecondFactorOptions,
  ofFactors = redis,
): SecondFactors {
  const kept = String(rememberUntil(0, longestLife));
  const setUps = setUpsInSteps(redis, { deciding: ofFactors, prefix, random, kept });
  const parsed = (record: string): SecondFactorRecord => JSON.parse(record);
  const idIn = (record: string | null) => (record === null ? undefined : parsed(record).id);
  const placeOf = (accountId: string) => placeIn(slots.of(digestOf(accountId)), accountId);

  /**
   * Resolves to what it is after the change; undefined: refused. Made again when the second factor was changed in between.
   */
  async function change(
    accountId: string,
    changed: SecondFactorChange,
  ): Promise<SecondFactorRecord | undefined> {
    const place = placeOf(accountId);
    const { factors, person } = place;
    for (;;) {
      const was = await setUps.find(place);
      const after = was === null ? undefined : changed(parsed(was));
      if (was === null || after === undefined) {
        await redis.settled(factors);
        return undefined;
      }
      const record = JSON.stringify(after);
      if ((await ofFactors.durable<number>(replaceField, [factors], person, record, was)) === 1)
        return after;
    }
  }

  return {
    async add(factor) {
      const place = placeOf(factor.accountId);
      const record = JSON.stringify(factor);
      for (;;) {
        const added = await addFactor(ofFactors, place, record);
        if (added >= 0) return added === 1;
        await setUps.alone(place);
      }
    },
    async setUp({ factor, replaces, generation, until }) {
      const place = placeOf(factor.accountId);
      const record = JSON.stringify(factor);
      for (;;) {
        const was = await setUps.find(place);
        if (idIn(was) !== replaces) {
          await redis.settled(place.factors);
          return undefined;
        }
        const raised = await setUps.setUp(place, { record, was, generation, until });
        if (raised !== 'changed') return raised;
      }
    },
    async get(accountId) {
      const record = await setUps.find(placeOf(accountId));
      return record === null ? undefined : parsed(record);
    },
    async *list() {
      for (const keys of slots.all.map(secondFactorKeys)) {
        await setUps.finish(keys);
        yield* slices<SecondFactorRecord>(async (last) => {
          const after = last ? `(${personText(last.accountId)}` : '-';
          const { factors, order } = keys;
          const most = String(SLICE);
          return (await redis.script<string[]>(slice, [factors, order], after, most)).map(parsed);
        });
      }
    },
    useStep: async (accountId, id, step, at) =>
      (await change(accountId, useOfStep(id, step, at))) !== undefined,
    useRecovery: async (accountId, mac, at) =>
      (await change(accountId, useOfRecovery(mac, at)))?.recovery.length,
    renewRecovery: async (seen, macs) =>
      (await change(seen.accountId, renewalOfRecovery(seen, macs))) !== undefined,
    async remove(accountId, id) {
      const place = placeOf(accountId);
      for (;;) {
        const was = await setUps.alone(place);
        if (was === null || (id !== undefined && idIn(was) !== id)) {
          await redis.settled(place.factors);
          return false;
        }
        const removed = await ofFactors.durable<number>(remove, keysOf(place), place.person, was);
        if (removed === 1) return true;
      }
    },
  };
}
