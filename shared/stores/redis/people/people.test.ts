import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  array,
  assert,
  asyncProperty,
  constantFrom,
  integer,
  option,
  record,
  uniqueArray,
} from 'fast-check';
import { randomId, systemRandom } from '#shared/base/random.ts';
import type { People, PersonRecord } from '#shared/stores/people/people.ts';
import { somePerson, someVerifier } from '../../contract/samples.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { redisClaims } from '../claims/claims.ts';
import { type Interrupted, interruptedRedis } from '../connection/interrupted.fixture.ts';
import { manySlots } from '../connection/slots.ts';
import { redisPeople } from './people.ts';

/** The steps of a change, as an interrupted connection tells them. */
const STEPS = {
  attempt: /^SCRIPT \{test:.\}:attempts:/,
  claim: /^SCRIPT \{test:.\}:claims:/,
  write: /^SCRIPT \{test:.\}:people$/,
} as const;

const slots = manySlots('test');
let place: Awaited<ReturnType<typeof interruptedRedis>>;
let one: People;
let other: People;
beforeAll(async () => {
  place = await interruptedRedis();
  const on = (redis: Interrupted) =>
    redisPeople(redis, slots, redisClaims(redis, slots, systemRandom));
  [one, other] = [on(place.connection), on(place.undisturbed)];
});
afterAll(() => place[Symbol.asyncDispose]());
beforeEach(async () => {
  await place.redis.cli('FLUSHALL');
  place.connection.interruptions.length = 0;
  place.undisturbed.interruptions.length = 0;
});

const meanwhile = (before: RegExp, work: () => Promise<unknown>) => {
  place.connection.interruptions.push({ before, work });
};
const stopped = () => Promise.reject(new Error('stopped'));
const evaluated = (lua: string) => place.redis.cli('EVAL', lua, '0');

/** Lets the attempts that are under way be as old as if their processes had died long ago. */
const age = (milliseconds: number) =>
  evaluated(`
    for _, key in ipairs(redis.call('KEYS', '*:attempts:*')) do
      for _, attempt in ipairs(redis.call('HKEYS', key)) do redis.call('HINCRBY', key, attempt, ${-milliseconds}) end
    end`);

/** How many claims there are, and how many attempts. */
const left = async () =>
  evaluated(`
    local claims = 0
    for _, key in ipairs(redis.call('KEYS', '*:claims:*')) do claims = claims + redis.call('ZCARD', key) end
    return claims .. ' claims, ' .. #redis.call('KEYS', '*:attempts:*') .. ' attempts'`);

const alice = () => ({
  ...somePerson('alice'),
  aliases: ['kerberos:alice@A'],
  search_keys: ['email:alice@a'],
});
const HANDLE = someVerifier('realm', { handle: 'h' });

describe.each(Object.entries(STEPS))('a process that ends before its step "%s"', (_, step) => {
  test('keeps nobody from the name, the alias or the handle', async () => {
    meanwhile(step, stopped);
    await expect(one.add(alice(), [HANDLE])).rejects.toThrow('stopped');
    await age(2000);
    const next = alice();
    expect(await other.add(next, [HANDLE])).toBe(true);
    expect(await other.getByName('alice')).toEqual(next);
    expect(await other.getByAlias('kerberos:alice@A')).toEqual(next);
    expect(await other.search('email:alice@a')).toEqual([next]);
    expect(await left()).toMatch(/^[45] claims, [01] attempts$/);
  });

  test('leaves a person as they were who was to have more', async () => {
    const before = alice();
    await other.add(before, [HANDLE]);
    meanwhile(step, stopped);
    const after = { ...before, aliases: ['more'], version: 1 };
    await expect(one.replace(after)).rejects.toThrow('stopped');
    expect(await other.getByName('alice')).toEqual(before);
    expect(await other.getByAlias('kerberos:alice@A')).toEqual(before);
    expect(await other.getByAlias('more')).toBeUndefined();
    expect(await other.replace(after)).toBe(true);
    expect(await other.getByAlias('more')).toEqual(after);
    expect(await other.getByAlias('kerberos:alice@A')).toBeUndefined();
  });

  test('and goes on after somebody else got the name writes nothing, and is told to repeat it', async () => {
    const next = alice();
    meanwhile(step, async () => {
      await age(2000);
      expect(await other.add(next)).toBe(true);
    });
    const late = one.add(alice());
    // Before the claim there is nothing to lose: the name is taken by then.
    const outcome = await late.catch((error: unknown) => error);
    if (step === STEPS.write) {
      expect(outcome).toBeInstanceOf(StoreUnavailable);
      expect(String(outcome)).toContain('repeat it');
    } else expect(outcome).toBe(false);
    expect(await other.getByName('alice')).toEqual(next);
    expect(await evaluated(`return #redis.call('KEYS', '*:people')`)).toBe('1');
  });
});

test('as many questions are asked for somebody of whom no verifier is kept as for nobody', async () => {
  await other.add(alice(), [HANDLE]);
  const counts = [];
  for (const [realm, name] of [
    ['realm', 'alice'],
    ['another realm', 'alice'],
    ['realm', 'nobody'],
  ] as const) {
    const asked = [
      jest.spyOn(place.undisturbed, 'command'),
      jest.spyOn(place.undisturbed, 'script'),
    ];
    const found = await other.getVerifier(HANDLE.kind, realm, { name });
    counts.push([found?.person.name, ...asked.map(({ mock }) => mock.calls.length)]);
    for (const spy of asked) spy.mockRestore();
  }
  expect(counts).toEqual([
    ['alice', 1, 1],
    [undefined, 1, 1],
    [undefined, 1, 1],
  ]);
});

test('a process that is slow is waited for: it gets the name', async () => {
  const [first, second] = [alice(), alice()];
  const outcome: { waiting?: Promise<boolean> } = {};
  meanwhile(STEPS.write, async () => {
    outcome.waiting = other.add(second);
    // Until it has found the claim.
    await new Promise((resolve) => setTimeout(resolve, 30));
  });
  expect(await one.add(first)).toBe(true);
  expect(await outcome.waiting).toBe(false);
  expect(await other.getByName('alice')).toEqual(first);
  expect(await left()).toBe('3 claims, 0 attempts');
});

test('one who waits for others again and again is told so in the end, and leaves no attempt', async () => {
  // Each claim finds another one, whose attempt is always under way.
  const others = jest
    .spyOn(place.connection, 'durable')
    .mockImplementation(async (_, keys) => (keys.length === 1 ? ['another'] : 'attempted'));
  try {
    const waiting = one.add(somePerson('alice'));
    await expect(waiting).rejects.toThrow('others are about to have the same name');
    await expect(waiting).rejects.toBeInstanceOf(StoreUnavailable);
  } finally {
    others.mockRestore();
  }
  expect(await left()).toBe('0 claims, 0 attempts');
});

test('an attempt of a time when the clock was ahead keeps nobody waiting', async () => {
  meanwhile(STEPS.write, stopped);
  await expect(one.add(alice())).rejects.toThrow('stopped');
  await age(-3_600_000);
  expect(await other.add(alice())).toBe(true);
});

test('an attempt ends by itself within a minute', async () => {
  meanwhile(STEPS.write, stopped);
  await expect(one.add(alice())).rejects.toThrow('stopped');
  const [key = ''] = (await place.redis.cli('KEYS', '*:attempts:*')).split('\n');
  const milliseconds = Number(await place.redis.cli('PTTL', key));
  expect(milliseconds).toBeGreaterThan(0);
  expect(milliseconds).toBeLessThanOrEqual(60_000);
});

test('one who is refused leaves no claim', async () => {
  await other.add({ ...somePerson('bob'), aliases: ['shared'] });
  const before = await left();
  expect(await other.add({ ...alice(), aliases: ['shared'] }, [HANDLE])).toBe(false);
  expect(await other.add({ ...somePerson('bob'), aliases: ['own'] })).toBe(false);
  expect(await left()).toBe(before);
});

test('two who want the same two things in other orders: one gets both, and neither waits for the other', async () => {
  for (let round = 0; round < 20; round += 1) {
    const aliases = [`x${round}`, `y${round}`];
    const added = await Promise.all([
      one.add({ ...somePerson(randomId(systemRandom)), aliases }),
      other.add({ ...somePerson(randomId(systemRandom)), aliases: aliases.toReversed() }),
    ]);
    expect(added.toSorted()).toEqual([false, true]);
  }
});

describe('somebody who was removed by a process that ended before it took the claims away', () => {
  let removed: PersonRecord;
  let former: PersonRecord;
  beforeEach(async () => {
    removed = { ...alice(), search_keys: ['looks:alice'] };
    await other.add(removed);
    await other.remove(removed);
    await other.add({ ...somePerson('bob'), search_keys: ['looks:bob'] });
    const bob = await other.getByName('bob');
    if (!bob) throw new Error('bob is not there');
    former = bob;
    // Its first look for claims is the first step after the removal.
    meanwhile(/^ZRANGE \{test:.\}:claims:/, stopped);
    await expect(one.remove(bob)).rejects.toThrow('stopped');
  });

  test('had the name, as others of whom no claim is left', async () => {
    for (const name of ['alice', 'looks:alice', 'bob', 'looks:bob']) {
      expect(await other.isFormerName(name)).toBe(true);
    }
    expect(await other.isFormerName('carol')).toBe(false);
    expect(await other.getByName('bob')).toBeUndefined();
  });

  test('keeps the name from all but those who may have a former one', async () => {
    expect(await other.add(somePerson('bob'))).toBe(false);
    const unshared = { ...somePerson('bbo'), search_keys: ['looks:bob'] };
    expect(await other.add(unshared, [], 'reused', { unshared: 'looks:bob' })).toBe(false);
    expect(await other.add(somePerson('bob'), [], 'reused')).toBe(true);
    expect(await other.isFormerName('bob')).toBe(false);
  });

  test('keeps it from a further attempt to make the same account that comes amid the question for it', async () => {
    const { id } = former;
    const claimed = Promise.withResolvers<void>();
    const making: { again?: Promise<boolean> } = {};
    meanwhile(STEPS.claim, async () => {
      making.again = other.add({ ...somePerson('bob'), id });
      await claimed.promise;
    });
    const asking = Promise.withResolvers<boolean>();
    place.undisturbed.interruptions.push({
      before: STEPS.write,
      async work() {
        claimed.resolve();
        await asking.promise;
      },
    });
    asking.resolve(one.isFormerName('bob'));
    expect(await asking.promise).toBe(true);
    expect(await making.again).toBe(false);
    expect(await other.isFormerName('bob')).toBe(true);
    expect(await other.add(somePerson('bob'))).toBe(false);
  });

  test('keeps it, too, where a passkey that was theirs has an id that reads like the name', async () => {
    const claims = redisClaims(place.undisturbed, slots, systemRandom);
    const passkey = { kind: 'passkey', value: 'bob' } as const;
    const wanted = [{ ...passkey, alone: true, former: 'reused' }] as const;
    await claims.claiming(former.id, wanted, async () => {});
    await claims.release(former.id, [passkey]);
    expect(await other.isFormerName('bob')).toBe(true);
    expect(await other.add(somePerson('bob'))).toBe(false);
  });

  test('is in no claim any more once somebody has asked', async () => {
    await other.isFormerName('bob');
    await other.isFormerName('looks:bob');
    const members = await evaluated(
      `local all = {}
       for _, key in ipairs(redis.call('KEYS', '*:claims:*')) do
         for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do all[#all + 1] = #member end
       end
       return all`,
    );
    // The start of a digest and a NUL, and nobody's id.
    expect(members.split('\n')).toEqual(['20', '20', '20', '20']);
    expect(await evaluated(`return #redis.call('KEYS', '*:names:former')`)).toBe('0');
  });
});

test('whatever happens at once, and wherever a process ends: each name and alias finds the one who has it', async () => {
  const NAMES = ['a', 'b', 'c'];
  const step = record({
    who: integer({ min: 0, max: 2 }),
    what: constantFrom('add', 'replace', 'remove'),
    name: constantFrom(...NAMES),
    aliases: uniqueArray(constantFrom('x', 'y', 'z')),
    end: option(constantFrom(...Object.values(STEPS)), { freq: 4 }),
  });
  await assert(
    asyncProperty(array(array(step, { maxLength: 4 }), { maxLength: 6 }), async (rounds) => {
      await place.redis.cli('FLUSHALL');
      const ids = [0, 1, 2].map(() => randomId(systemRandom));
      for (const round of rounds) {
        await Promise.all(
          round.map(async ({ who: n, what, name, aliases, end }) => {
            const store = end ? one : other;
            if (end) meanwhile(end, stopped);
            const id = ids[n] ?? '';
            const is = await other.get(id);
            const work = {
              add: () => store.add({ ...somePerson(name), id, aliases }, [], 'reused'),
              replace: async () =>
                is !== undefined && store.replace({ ...is, aliases, version: is.version + 1 }),
              remove: async () => is !== undefined && store.remove(is),
            };
            await work[what]().catch((error: unknown) => {
              if (!/stopped|repeat it/.test(String(error))) throw error;
            });
          }),
        );
        place.connection.interruptions.length = 0;
        await age(2000);
      }
      const people: PersonRecord[] = [];
      for await (const slice of other.list()) people.push(...slice);
      for (const person of people) {
        expect(await other.getByName(person.name)).toEqual(person);
        for (const alias of person.aliases ?? []) {
          expect(await other.getByAlias(alias)).toEqual(person);
        }
      }
      const names = people.flatMap(({ name, aliases = [] }) => aliases.concat(name));
      expect(new Set(names).size).toBe(names.length);
    }),
    { numRuns: 60 },
  );
});
