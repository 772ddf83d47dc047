import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import type { SecondFactors } from '#shared/stores/credentials/second-factors.ts';
import { secondFactorsIn, someSecondFactor } from '../../contract/samples.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';
import { manySlots, oneSlot } from '../connection/slots.ts';
import { moveToManySlots } from '../to-many-slots.ts';
import { startedBefore } from '../under-test.ts';
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

describe('redis spread', () => {
  const PEOPLE = [
    'alice',
    '',
    '{x}',
    'é',
    '__proto__',
    ...Array.from({ length: 300 }, (_, n) => `${n}`),
  ];
  const run = (redis = place.undisturbed) =>
    moveToManySlots(redis, 'test', { random: systemRandom, sure: async () => {}, tell() {} });
  const before = () =>
    redisSecondFactors(place.undisturbed, { ...OPTIONS, slots: oneSlot('test') });

  beforeEach(async () => {
    await startedBefore(place.redis);
    await Promise.all(PEOPLE.map((person) => before().add(someSecondFactor(person))));
    await before().useStep('alice', 'set-up of alice', 9, NOW);
  });

  async function expectAllMoved(): Promise<void> {
    expect(await other.get('alice')).toEqual({
      ...someSecondFactor('alice'),
      step: 9,
      used_at: NOW,
    });
    for (const person of PEOPLE.slice(1)) {
      expect(await other.get(person)).toEqual(someSecondFactor(person));
    }
    expect(await secondFactorsIn({ secondFactors: other })).toHaveLength(PEOPLE.length);
    const next = { ...someSecondFactor('alice'), id: 'next' };
    const setUp = { factor: next, replaces: 'set-up of alice', generation: 0, until: NOW };
    expect(await other.setUp(setUp)).toBe(1);
    expect(await place.redis.cli('KEYS', '{test}:second-factors*')).toBe('');
  }

  test('moves all', async () => {
    expect(await run()).toBe(PEOPLE.length);
    await expectAllMoved();
  });

  test.each([
    ['they are read', /^HSCAN \{test\}:second-factors/],
    ['one is written', /^SCRIPT \{test:.\}:second-factors/],
    ['the former ones are removed', /^DEL \{test\}:second-factors$/],
    ['their order is removed', /^DEL \{test\}:second-factors:order/],
  ])('stopped before %s: the next run finishes it', async (_, step) => {
    const work = () => Promise.reject(new Error('stopped'));
    place.connection.interruptions.push({ before: step, work });
    await expect(run(place.connection)).rejects.toThrow('stopped');
    await run();
    await expectAllMoved();
  });

  test('a run that stands still brings nothing back after another one', async () => {
    place.connection.interruptions.push({
      before: /^SCRIPT \{test:.\}:second-factors/,
      async work() {
        await run();
        for (const person of PEOPLE) await other.remove(person);
      },
    });
    await expect(run(place.connection)).rejects.toThrow('another run of the command');
    expect(await place.redis.cli('KEYS', '*:second-factors*')).toBe('');
  });
});
