import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import type { SecondFactors } from '#shared/stores/credentials/second-factors.ts';
import { someSecondFactor } from '../../contract/samples.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';
import { manySlots } from '../connection/slots.ts';
import { redisSecondFactors } from './second-factors.ts';

const OPTIONS = { prefix: 'test', slots: manySlots('test'), random: systemRandom, longestLife: 60 };
const NOW = 1_800_000_000_000;

let place: Awaited<ReturnType<typeof interruptedRedis>>;
let one: SecondFactors;
let other: SecondFactors;
beforeAll(async () => {
  place = await interruptedRedis();
  one = redisSecondFactors(place.connection, OPTIONS);
  other = redisSecondFactors(place.undisturbed, OPTIONS);
});
afterAll(() => place[Symbol.asyncDispose]());

beforeEach(async () => {
  place.connection.interruptions.length = 0;
  await place.redis.cli('FLUSHALL');
});

test('nobody asks the slot of the feed about a person who sets nothing up', async () => {
  const factor = someSecondFactor('alice');
  await other.add(factor);
  const stop = () => Promise.reject(new Error('asked'));
  place.connection.interruptions.push({ before: /\{test\}/, work: stop });
  expect(await one.get('alice')).toEqual(factor);
  expect(await one.useStep('alice', factor.id, 9, NOW)).toBe(true);
  expect(await one.useRecovery('alice', 'mac 1', NOW)).toBe(1);
  expect(await one.remove('alice')).toBe(true);
  expect(await one.add(factor)).toBe(true);
});
