import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { ownerText } from '#shared/stores/credentials/public-key-changes.ts';
import type { PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { somePublicKey } from '../../contract/samples.ts';
import type { Commands, Keys, Script } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';
import { manySlots } from '../connection/slots.ts';
import { redisPublicKeys } from './public-keys.ts';

const BEFORE_THE_WRITE = /^SCRIPT \{test:.\}:public-keys$/;

let place: Awaited<ReturnType<typeof interruptedRedis>>;
beforeAll(async () => {
  place = await interruptedRedis();
});
afterAll(() => place[Symbol.asyncDispose]());

const key = somePublicKey('x');
const another = { ...key, owner: { kind: 'person', id: 'another' }, created_at: 5 } as const;

describe('public keys', () => {
  const slots = manySlots('test');
  let one: PublicKeys;
  let other: PublicKeys;
  beforeEach(async () => {
    one = redisPublicKeys(place.connection, slots, systemRandom);
    other = redisPublicKeys(place.undisturbed, slots, systemRandom);
    await place.redis.cli('FLUSHALL');
    await other.add(key, 1);
  });

  describe('changes between the look at a public key and its write', () => {
    const meanwhile = (work: () => Promise<unknown>) => {
      place.connection.interruptions.push({ before: BEFORE_THE_WRITE, work });
    };

    test('it is removed: neither a use nor a signing out brings it back', async () => {
      meanwhile(() => other.remove('x'));
      await one.touch('x', 7);
      expect(await other.get('x')).toBeUndefined();
      await other.add(key, 1);
      meanwhile(() => other.remove('x'));
      expect(await one.signOut('x', 7)).toBe(false);
      expect(await other.get('x')).toBeUndefined();
      expect(place.connection.interruptions).toEqual([]);
    });

    test('it is used or signed out: the other change keeps that, and a removal removes it', async () => {
      meanwhile(() => other.signOut('x', 5));
      await one.touch('x', 7);
      expect(await other.get('x')).toEqual({ ...key, signed_out_at: 5, used_at: 7 });
      meanwhile(() => other.touch('x', 100_000));
      expect(await one.signOut('x', 6)).toBe(true);
      expect(await other.get('x')).toEqual({ ...key, signed_out_at: 6, used_at: 100_000 });
      meanwhile(() => other.touch('x', 200_000));
      expect(await one.remove('x')).toBe(true);
      expect(await other.of(key.owner)).toEqual([]);
      expect(await place.redis.cli('KEYS', '*')).toBe('');
    });

    test('it is removed and given to another: a removal takes it from that one, with its place', async () => {
      meanwhile(async () => {
        await other.remove('x');
        await other.add(another, 1);
      });
      expect(await one.remove('x')).toBe(true);
      expect(await place.redis.cli('KEYS', '*')).toBe('');
    });
  });

  test('reads the keys of one owner without a look at others', async () => {
    const ids = Array.from({ length: 1000 }, (_, n) => `key-${n}`);
    await Promise.all(ids.map((id) => other.add(somePublicKey(id), 1)));
    await place.redis.cli('CONFIG', 'RESETSTAT');
    expect(await one.of(key.owner)).toEqual([key]);
    const stats = await place.redis.cli('INFO', 'commandstats');
    expect(stats).not.toMatch(/cmdstat_(hscan|hgetall|hvals)/);
    expect(stats).toMatch(/cmdstat_zrange:calls=1,/);
  });
});

describe('a public key whose owner is in another slot', () => {
  const slots = manySlots('test');
  const made = (redis: Commands) => redisPublicKeys(redis, slots, systemRandom);
  const one = () => made(place.connection);
  const other = () => made(place.undisturbed);
  const second = { ...somePublicKey('second'), owner: key.owner };
  const before = (step: RegExp, work: () => Promise<unknown>) => {
    place.connection.interruptions.push({ before: step, work });
  };
  const stop = () => Promise.reject(new Error('stopped'));
  const order = `${slots.of(digestOf(ownerText(key.owner)))}:public-keys:order`;
  const placesOf = async () => (await place.redis.cli('ZRANGE', order, '0', '-1')).split('\n');
  /** Lets milliseconds pass for all places that were taken. Returns the stamp that one has then. */
  async function age(milliseconds: number): Promise<string> {
    let last = '';
    for (const text of await placesOf()) {
      const at = text.lastIndexOf(' ') + 1;
      const [time, rest] = [text.slice(at, at + 16), text.slice(at + 16)];
      last = String(Number(time) - milliseconds).padStart(16, '0') + rest;
      await place.redis.cli('ZREM', order, text);
      await place.redis.cli('ZADD', order, '0', text.slice(0, at) + last);
    }
    return last;
  }
  beforeEach(() => place.redis.cli('FLUSHALL'));

  test('the process is stopped before the key is written: its place is kept for an hour, and then another has it', async () => {
    before(BEFORE_THE_WRITE, stop);
    await expect(one().add(key, 1)).rejects.toThrow('stopped');
    expect(await other().get('x')).toBeUndefined();
    expect(await other().of(key.owner)).toEqual([]);
    expect(await other().add(second, 1)).toBe('full');
    await age(3_500_000);
    expect(await other().add(second, 1)).toBe('full');
    await age(200_000);
    expect(await other().add(second, 1)).toBe('added');
    expect(await placesOf()).toHaveLength(1);
    expect(await other().of(key.owner)).toEqual([second]);
  });

  test('the process is stopped before the key is written: its owner adds it again at once', async () => {
    before(BEFORE_THE_WRITE, stop);
    await expect(one().add(key, 1)).rejects.toThrow('stopped');
    expect(await one().add(key, 1)).toBe('added');
    expect(await other().of(key.owner)).toEqual([key]);
    expect(await other().remove('x')).toBe(true);
    await age(3_700_000);
    expect(await other().of(key.owner)).toEqual([]);
    expect(await place.redis.cli('KEYS', '*')).toBe('');
  });

  test('the process stands still for minutes before the key is written: it takes a new place', async () => {
    let times = 1;
    const { undisturbed } = place;
    const slow: Commands = {
      command: (...args) => undisturbed.command(...args),
      script: (...args) => undisturbed.script(...args),
      settled: (...args) => undisturbed.settled(...args),
      durableCommand: (...args) => undisturbed.durableCommand(...args),
      async durable<T>(body: Script, keys: Keys, ...args: readonly string[]): Promise<T> {
        const answer = await undisturbed.durable<T>(body, keys, ...args);
        if (!keys[0].endsWith(':order') || times === 0) return answer;
        times -= 1;
        return (await age(700_000)) as T;
      },
    };
    expect(await made(slow).add(key, 1)).toBe('added');
    expect(await placesOf()).toHaveLength(1);
    expect(await other().of(key.owner)).toEqual([key]);
    expect(await other().remove('x')).toBe(true);
    // As if the clocks of two masters differed.
    times = 2;
    await expect(made(slow).add(key, 1)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await place.redis.cli('KEYS', '*')).toBe('');
  });

  test('the process is stopped before the place of a removed key is given back: nobody sees it', async () => {
    await other().add(key, 1);
    before(/^ZREM/, stop);
    await expect(one().remove('x')).rejects.toThrow('stopped');
    expect(await one().remove('x')).toBe(false);
    expect(await other().of(key.owner)).toEqual([]);
    const listed: unknown[] = [];
    for await (const slice of other().list()) listed.push(...slice);
    expect(listed).toEqual([]);
    await age(3_700_000);
    expect(await other().of(key.owner)).toEqual([]);
    expect(await place.redis.cli('KEYS', '*')).toBe('');
  });

  test('a key that is added again before the place of its removal is given back keeps its own', async () => {
    await other().add(key, 1);
    before(/^ZREM/, async () => expect(await other().add(key, 1)).toBe('added'));
    expect(await one().remove('x')).toBe(true);
    expect(await placesOf()).toHaveLength(1);
    expect(await other().of(key.owner)).toEqual([key]);
  });

  test('a key whose place was lost is seen again by its owner once it is used, unless it is removed meanwhile', async () => {
    await other().add(key, 1);
    await place.redis.cli('DEL', order);
    expect(await other().of(key.owner)).toEqual([]);
    await one().touch('x', 7);
    expect(await other().of(key.owner)).toMatchObject([key]);
    before(/^ZADD/, () => other().remove('x'));
    await one().touch('x', 100_000);
    expect(await other().of(key.owner)).toEqual([]);
    await age(3_700_000);
    expect(await other().of(key.owner)).toEqual([]);
    expect(await place.redis.cli('KEYS', '*')).toBe('');
  });

  test('a reader that finds an old place, and nothing at it, leaves what is written meanwhile', async () => {
    before(BEFORE_THE_WRITE, stop);
    await expect(one().add(key, 1)).rejects.toThrow('stopped');
    await age(3_700_000);
    before(/^HMGET/, () => other().add(key, 1));
    expect(await one().of(key.owner)).toEqual([]);
    expect(await other().of(key.owner)).toEqual([key]);
    expect(await placesOf()).toHaveLength(1);
    expect(place.connection.interruptions).toEqual([]);
  });

  test('pages and lists pass over places of nothing, however many there are', async () => {
    const owner = { kind: 'application', id: 'A' } as const;
    for (let n = 0; n < 5; n += 1) {
      before(BEFORE_THE_WRITE, stop);
      const lost = { ...somePublicKey(`lost-${n}`), owner, created_at: n };
      await expect(one().add(lost, 9)).rejects.toThrow('stopped');
    }
    const last = { ...somePublicKey('last'), owner, created_at: 9 };
    await other().add(last, 9);
    expect(await other().pageOfApplications({ limit: 1 })).toEqual([last]);
    expect(await other().pageOfApplications({ limit: 1, after: last })).toEqual([]);
  });
});
