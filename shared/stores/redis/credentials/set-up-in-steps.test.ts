import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import type { SecondFactors } from '#shared/stores/credentials/second-factors.ts';
import type { Revocations } from '#shared/stores/revocation/revocations.ts';
import { secondFactorsIn, someSecondFactor } from '../../contract/samples.ts';
import type { Commands } from '../connection/connection.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';
import { manySlots } from '../connection/slots.ts';
import { redisRevocations } from '../revocation/revocations.ts';
import { redisSecondFactors } from './second-factors.ts';

const slots = manySlots('test');
const OPTIONS = { prefix: 'test', slots, random: systemRandom, longestLife: 60 };
const NOW = 1_800_000_000_000;

let place: Awaited<ReturnType<typeof interruptedRedis>>;
let one: SecondFactors;
let other: SecondFactors;
let revocations: Pick<Revocations, 'generation' | 'raise'>;
beforeAll(async () => {
  place = await interruptedRedis();
  const { connection, undisturbed } = place;
  one = redisSecondFactors(connection, OPTIONS);
  other = redisSecondFactors(undisturbed, OPTIONS);
  revocations = redisRevocations(undisturbed, 'test', systemRandom, 60, () => {
    throw new Error('no feed is opened');
  });
});
afterAll(() => place[Symbol.asyncDispose]());

const FORMER = { ...someSecondFactor('alice'), id: 'former' };
const NEXT = { ...someSecondFactor('alice'), id: 'next', sealed: 'of next' };
const ANOTHER = { ...someSecondFactor('alice'), id: 'another', sealed: 'of another' };
const setUpOf = (factor: typeof NEXT) => ({
  factor,
  replaces: 'former',
  generation: 0,
  until: NOW + 1e12,
});

/** The steps of a set-up, in order, and what stands of it once each of them is reached and anybody has looked. */
const STEPS = [
  ['it looks', 'former'],
  ['the mark', 'former'],
  ['the note', 'former'],
  ['it is decided', 'former'],
  ['the record takes its place', 'next'],
  ['the mark goes', 'next'],
  ['the note goes', 'next'],
] as const;

/** Does something just before a step of the next set-up, which are numbered from 0. */
function atStep(step: number, work: () => Promise<unknown>): void {
  const pass = { before: /(?:)/, work: async () => {} };
  place.connection.interruptions.push(...STEPS.slice(0, step).map(() => pass));
  place.connection.interruptions.push({ before: /(?:)/, work });
}

const stopAt = async (step: number) => {
  atStep(step, () => Promise.reject(new Error('stopped')));
  await expect(one.setUp(setUpOf(NEXT))).rejects.toThrow('stopped');
};

const generation = () => revocations.generation('person', 'alice');
const keysOfSetUps = () => place.redis.cli('KEYS', '*:second-factors:set-up*');

beforeEach(async () => {
  place.connection.interruptions.length = 0;
  await place.redis.cli('FLUSHALL');
  await other.add(FORMER);
});

test('a set-up has as many steps as are stopped here', async () => {
  atStep(STEPS.length, () => Promise.reject(new Error('there is a further step')));
  expect(await one.setUp(setUpOf(NEXT))).toBe(1);
  expect(place.connection.interruptions).toHaveLength(1);
  expect(await keysOfSetUps()).toBe('');
});

describe.each(STEPS.map(([name, stands], step) => ({ name, stands, step })))(
  'stopped before $name',
  ({ stands, step }) => {
    const isDone = stands === 'next';
    beforeEach(() => stopAt(step));

    test('anybody who looks finds the new one and the generation, or neither, and it stays so', async () => {
      for (let looks = 0; looks < 2; looks += 1) {
        expect(await other.get('alice')).toEqual(isDone ? NEXT : FORMER);
        expect(await generation()).toBe(isDone ? 1 : 0);
        expect(await secondFactorsIn({ secondFactors: other })).toEqual([isDone ? NEXT : FORMER]);
      }
      if (isDone) expect(await keysOfSetUps()).toBe('');
    });

    test('a list has it before anybody else looks', async () => {
      expect(await secondFactorsIn({ secondFactors: other })).toEqual([isDone ? NEXT : FORMER]);
    });

    test('codes are those of the one that counts', async () => {
      expect(await other.useStep('alice', 'former', 9, NOW)).toBe(!isDone);
      expect(await other.useStep('alice', 'next', 9, NOW)).toBe(isDone);
      expect(await other.useRecovery('alice', 'mac 1', NOW)).toBe(1);
    });

    test('another set-up, an addition and a removal find it done, or refuse it', async () => {
      const raised = await other.setUp(setUpOf(ANOTHER));
      expect(raised).toBe(isDone ? undefined : 1);
      expect(await other.add(FORMER)).toBe(false);
      expect(await other.remove('alice', 'former')).toBe(false);
      expect(await other.get('alice')).toEqual(isDone ? NEXT : ANOTHER);
      expect(await generation()).toBe(1);
      expect(await other.remove('alice')).toBe(true);
      expect(await other.get('alice')).toBeUndefined();
      expect(await place.redis.cli('KEYS', '*second-factors')).toBe('');
    });

    test('a refused one leaves at most a mark that expires', async () => {
      expect(await other.remove('alice')).toBe(true);
      expect(await generation()).toBe(isDone ? 1 : 0);
      for (const key of (await keysOfSetUps()).split('\n').filter(Boolean)) {
        expect(Number(await place.redis.cli('PTTL', key))).toBeGreaterThan(0);
      }
    });
  },
);

describe.each(STEPS.map(([name], step) => ({ name, step })))(
  'standing still before $name',
  ({ step }) => {
    const isDecided = step > STEPS.findIndex(([name]) => name === 'it is decided');
    const isNoted = step > STEPS.findIndex(([name]) => name === 'the note');
    const meanwhile = async <T>(work: () => Promise<T>) => {
      let did: T | undefined;
      atStep(step, async () => (did = await work()));
      const raised = await one.setUp(setUpOf(NEXT));
      expect(place.connection.interruptions).toEqual([]);
      expect(await generation()).toBe(raised ?? (did === 1 ? 1 : 0));
      return { raised, did };
    };

    test('another one sets up: one of the two succeeds', async () => {
      const { raised, did } = await meanwhile(() => other.setUp(setUpOf(ANOTHER)));
      expect([raised, did]).toEqual(isDecided ? [1, undefined] : [undefined, 1]);
      expect(await other.get('alice')).toEqual(isDecided ? NEXT : ANOTHER);
    });

    test('it is removed: it stays so', async () => {
      const { raised, did } = await meanwhile(() => other.remove('alice'));
      expect([raised, did]).toEqual([isDecided ? 1 : undefined, true]);
      expect(await other.get('alice')).toBeUndefined();
      expect(await secondFactorsIn({ secondFactors: other })).toEqual([]);
    });

    test('it is removed and another added: that one stays', async () => {
      const { raised } = await meanwhile(async () => {
        await other.remove('alice');
        return other.add(ANOTHER);
      });
      expect(raised).toBe(isDecided ? 1 : undefined);
      expect(await other.get('alice')).toEqual(ANOTHER);
    });

    test('codes are used: none counts afterwards', async () => {
      const { raised, did } = await meanwhile(() => other.useStep('alice', 'former', 9, NOW));
      expect([raised, did]).toEqual([1, !isDecided]);
      expect(await other.get('alice')).toEqual(NEXT);
    });

    test('somebody looks: it goes on', async () => {
      const { raised, did } = await meanwhile(() => other.get('alice'));
      expect([raised, did]).toEqual([1, isDecided ? NEXT : FORMER]);
    });

    test('the generation is raised: all or nothing', async () => {
      atStep(step, () => revocations.raise('person', 'alice', NOW));
      const raised = await one.setUp(setUpOf(NEXT));
      expect(raised).toBe(isDecided ? 1 : undefined);
      expect(await generation()).toBe(isDecided ? 2 : 1);
      expect(await other.get('alice')).toEqual(isDecided ? NEXT : FORMER);
      expect(await keysOfSetUps()).toBe('');
    });

    test('for longer than its mark lives: it is refused, and no longer asked about', async () => {
      atStep(step, async () => {
        const marks = (await keysOfSetUps()).split('\n').filter((key) => key.startsWith('{test}'));
        for (const mark of marks) {
          if ((await place.redis.cli('GET', mark)) === 'open') await place.redis.cli('DEL', mark);
        }
        if (isNoted) await other.get('alice');
      });
      const raised = await one.setUp(setUpOf(NEXT));
      const isLate = step > 1 && !isDecided;
      expect(raised).toBe(isLate ? undefined : 1);
      expect(await generation()).toBe(isLate ? 0 : 1);
      expect(await other.get('alice')).toEqual(isLate ? FORMER : NEXT);
      expect(await keysOfSetUps()).toBe('');
    });
  },
);

test('a look that stands still after it found a note brings nothing back', async () => {
  for (const [, work] of Object.entries({
    removed: () => other.remove('alice'),
    used: () => other.useStep('alice', 'next', 99, NOW),
  })) {
    await place.redis.cli('FLUSHALL');
    await other.add(FORMER);
    await stopAt(4);
    place.connection.interruptions.length = 0;
    place.connection.interruptions.push({
      before: /^SCRIPT \{test:.\}:second-factors$/,
      async work() {},
    });
    place.connection.interruptions.push({ before: /^SCRIPT \{test:.\}:second-factors$/, work });
    const seen = await one.get('alice');
    expect(place.connection.interruptions).toEqual([]);
    expect(seen).toEqual(await other.get('alice'));
    expect(await keysOfSetUps()).toBe('');
  }
});

describe('a set-up of another process that goes on', () => {
  /** Begins one, which is stopped before it is decided. */
  const begun = async (setUp = setUpOf(ANOTHER)) => {
    const { undisturbed } = place;
    const deciding: Commands = {
      command: (...args) => undisturbed.command(...args),
      script: (...args) => undisturbed.script(...args),
      settled: (key) => undisturbed.settled(key),
      durableCommand: (...args) => undisturbed.durableCommand(...args),
      durable: () => Promise.reject(new Error('stopped')),
    };
    const factors = redisSecondFactors(undisturbed, OPTIONS, deciding);
    await expect(factors.setUp(setUp)).rejects.toThrow('stopped');
    expect(await place.redis.cli('KEYS', '{test:?}:second-factors:set-up')).not.toBe('');
  };

  test('is forgotten by a look after its mark has expired', async () => {
    await begun();
    const keys = (await keysOfSetUps()).split('\n');
    await place.redis.cli('DEL', keys.find((key) => key.startsWith('{test}')) ?? '');
    expect(await other.get('alice')).toEqual(FORMER);
    expect(await keysOfSetUps()).toBe('');
  });

  test('began after a removal had looked: it is refused all the same', async () => {
    atStep(1, begun);
    expect(await one.remove('alice')).toBe(true);
    expect(place.connection.interruptions).toEqual([]);
    expect(await keysOfSetUps()).toBe('');
  });

  test('is for somebody who has no second factor: an addition refuses it', async () => {
    await other.remove('alice');
    const { replaces: _, ...first } = setUpOf(NEXT);
    atStep(3, () => other.add(ANOTHER));
    expect(await one.setUp(first)).toBeUndefined();
    expect(place.connection.interruptions).toEqual([]);
    expect(await generation()).toBe(0);
    expect(await other.get('alice')).toEqual(ANOTHER);
    expect(await keysOfSetUps()).toBe('');
  });

  test('began after this one had looked: it is refused, and this one goes on', async () => {
    atStep(2, begun);
    expect(await one.setUp(setUpOf(NEXT))).toBe(1);
    expect(place.connection.interruptions).toEqual([]);
    expect(await other.get('alice')).toEqual(NEXT);
    expect(await keysOfSetUps()).toBe('');
  });

  test('has refused this one: its note stays', async () => {
    atStep(3, begun);
    expect(await one.setUp(setUpOf(NEXT))).toBeUndefined();
    expect(place.connection.interruptions).toEqual([]);
    expect((await keysOfSetUps()).split('\n')).toHaveLength(2);
    expect(await generation()).toBe(0);
  });
});

describe('each step waits for the replicas before the one that relies on it', () => {
  /** The same connection, which tells what goes to the slot of the person and to that of the feed, and how. */
  function telling(to: string[]): Commands {
    const { undisturbed } = place;
    const tell = (how: string, key: string) => {
      const [slot, , rest] = key.split(/(:second-factors|:set-up:.*)/);
      to.push(`${how} ${slot === '{test}' ? 'feed' : 'person'}${rest}`);
    };
    return {
      command(word, key, ...args) {
        tell(word, key);
        return undisturbed.command(word, key, ...args);
      },
      script(body, keys, ...args) {
        tell('script', keys[0]);
        return undisturbed.script(body, keys, ...args);
      },
      durable(body, keys, ...args) {
        tell('durable', keys[0]);
        return undisturbed.durable(body, keys, ...args);
      },
      durableCommand(word, key, ...args) {
        tell('durable', key);
        return undisturbed.durableCommand(word, key, ...args);
      },
      settled: async (key) => tell('settled', key),
    };
  }
  async function toldOf(work: (factors: SecondFactors) => Promise<unknown>): Promise<string[]> {
    const told: string[] = [];
    await work(redisSecondFactors(telling(told), OPTIONS));
    return told;
  }
  const FINISHING = ['durable person', 'settled person:set-up', 'DEL feed', 'script person:set-up'];

  test('an entry of the audit log goes with the step that decides', async () => {
    const told: string[] = [];
    const recorded = redisSecondFactors(place.undisturbed, OPTIONS, telling(told));
    await recorded.setUp(setUpOf(NEXT));
    expect(told).toEqual(['durable feed']);
    await recorded.remove('alice');
    await recorded.add(FORMER);
    expect(told.slice(1)).toEqual(['durable person', 'durable person']);
  });

  test('a set-up', async () => {
    expect(await toldOf((factors) => factors.setUp(setUpOf(NEXT)))).toEqual([
      'script person',
      'SET feed',
      'durable person:set-up',
      'durable feed',
      ...FINISHING,
    ]);
  });

  test('a look that finds it done', async () => {
    await stopAt(4);
    expect(await toldOf((factors) => factors.get('alice'))).toEqual([
      'script person',
      'GET feed',
      'settled feed',
      ...FINISHING,
      'script person',
    ]);
  });

  test('a look that finds the record in its place', async () => {
    await stopAt(5);
    expect(await toldOf((factors) => factors.get('alice'))).toEqual([
      'script person',
      ...FINISHING.slice(1),
      'script person',
    ]);
  });

  test('a refusal', async () => {
    await stopAt(3);
    expect(await toldOf((factors) => factors.remove('alice'))).toEqual([
      'script person',
      'durable feed',
      'settled feed',
      'script person:set-up',
      'script person',
      'durable person',
    ]);
  });
});
