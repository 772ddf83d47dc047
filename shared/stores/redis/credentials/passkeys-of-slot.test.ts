import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Passkeys } from '#shared/stores/credentials/passkeys.ts';
import { somePasskey } from '../../contract/samples.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';
import { passkeysOfSlot } from './passkeys-of-slot.ts';

const BEFORE_THE_WRITE = /^SCRIPT \{test\}:passkeys/;

let place: Awaited<ReturnType<typeof interruptedRedis>>;
let one: Passkeys;
let other: Passkeys;
beforeAll(async () => {
  place = await interruptedRedis();
  const { connection, undisturbed } = place;
  one = passkeysOfSlot(connection, '{test}');
  other = passkeysOfSlot(undisturbed, '{test}');
});
afterAll(() => place[Symbol.asyncDispose]());

const passkey = { ...somePasskey('x'), accountId: 'alice' };
const second = { ...somePasskey('y'), accountId: 'alice', created_at: 5 };
const use = (counter: number) => ({ counter, backedUp: true, at: 9 });

beforeEach(async () => {
  await place.redis.cli('FLUSHALL');
  await other.add(passkey, 1);
});

describe('changes between the look at a passkey and its write', () => {
  const meanwhile = (work: () => Promise<unknown>) => {
    place.connection.interruptions.push({ before: BEFORE_THE_WRITE, work });
  };

  test('it is removed: neither a use nor another name brings it back', async () => {
    meanwhile(() => other.remove('alice', 'x', 0));
    expect(await one.use('x', use(8))).toBe('gone');
    await other.add(passkey, 1);
    meanwhile(() => other.removeAll('alice'));
    expect(await one.rename('alice', 'x', 'Phone')).toBe(false);
    expect(await other.get('x')).toBeUndefined();
    expect(await place.redis.cli('KEYS', '*')).toBe('');
    expect(place.connection.interruptions).toEqual([]);
  });

  test('its counter was used: the second use is refused', async () => {
    meanwhile(() => other.use('x', use(8)));
    expect(await one.use('x', use(8))).toBe('refused');
    expect(await other.get('x')).toMatchObject({ counter: 8, used_at: 9, refused_at: 9 });
  });

  test('it got another name: a use keeps that, and a removal removes it', async () => {
    meanwhile(() => other.rename('alice', 'x', 'Phone'));
    expect(await one.use('x', use(8))).toBe('used');
    expect(await other.get('x')).toMatchObject({ counter: 8, name: 'Phone' });
    meanwhile(() => other.use('x', use(9)));
    expect(await one.remove('alice', 'x', 0)).toBe('removed');
    expect(await place.redis.cli('KEYS', '*')).toBe('');
  });

  test('the other one of two is removed: the last stays', async () => {
    await other.add(second, 2);
    meanwhile(() => other.remove('alice', 'y', 1));
    expect(await one.remove('alice', 'x', 1)).toBe('last');
    expect(await other.of('alice')).toEqual([passkey]);
  });

  test('it is removed and given to another: a removal leaves it to that one', async () => {
    const given = { ...passkey, accountId: 'bob' };
    meanwhile(async () => {
      await other.remove('alice', 'x', 0);
      await other.add(given, 1);
    });
    expect(await one.remove('alice', 'x', 0)).toBe('gone');
    expect(await other.of('bob')).toEqual([given]);
  });
});

test('reads the passkeys of one person without a look at others', async () => {
  const ids = Array.from({ length: 1000 }, (_, n) => `passkey-${n}`);
  await Promise.all(ids.map((id) => other.add(somePasskey(id), 1)));
  await place.redis.cli('CONFIG', 'RESETSTAT');
  expect(await one.of('alice')).toEqual([passkey]);
  const stats = await place.redis.cli('INFO', 'commandstats');
  expect(stats).not.toMatch(/cmdstat_(hscan|hgetall|hvals)/);
  expect(stats).toMatch(/cmdstat_zrange:calls=1,/);
});
