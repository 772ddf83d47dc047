import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import type { Artefact, Artefacts } from '#shared/stores/oauth/artefacts.ts';
import { redisArtefacts } from './artefacts.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';
import { manySlots } from '../connection/slots.ts';

const SLOTS = manySlots('test');
const ARTEFACT = /^SCRIPT \{test:x\}:artefact:/;
const GRANT = /^SCRIPT test:grant:/;
const ACCOUNT = /^SCRIPT test:account:/;
const LOOK_INTO_GRANT = /^ZSCORE test:grant:/;

describe('changes between the steps of a verb', () => {
  let place: Awaited<ReturnType<typeof interruptedRedis>>;
  let one: Artefacts;
  let other: Artefacts;
  beforeAll(async () => {
    place = await interruptedRedis();
    const { connection, undisturbed } = place;
    one = redisArtefacts(connection, 'test', SLOTS, new ManualClock());
    other = redisArtefacts(undisturbed, 'test', SLOTS, new ManualClock());
  });
  afterAll(() => place[Symbol.asyncDispose]());
  beforeEach(async () => {
    await place.redis.cli('FLUSHALL');
  });
  afterEach(() => {
    expect(place.connection.interruptions).toEqual([]);
  });

  const before = (step: RegExp, work: () => Promise<unknown>) => {
    place.connection.interruptions.push({ before: step, work });
  };
  const access = (payload: Artefact['payload'] = {}): Artefact => ({
    kind: 'Access',
    id: 'x',
    payload: { accountId: 'alice', grantId: 'g', ...payload },
    seconds: 60,
  });
  const there = () => other.get('Access', 'x');
  /** Expects that each artefact that is there is found by its person and goes with its grant. */
  const expectNoGhost = async () => {
    const found = await there();
    const expected = found === undefined ? [] : [found];
    expect(await other.listByAccount('Access', 'alice')).toEqual(expected);
    await other.removeByGrant(String(found?.['grantId']));
    expect(await there()).toBeUndefined();
    expect(await place.redis.cli('DBSIZE')).toBe('0');
  };

  test('RFC 9700 section 4.14.2: the grant is removed before the artefact is written: it is removed too', async () => {
    before(ARTEFACT, () => other.removeByGrant('g'));
    await one.put(access());
    expect(await there()).toBeUndefined();
    await expectNoGhost();
  });

  test('RFC 9700 section 4.14.2: the grant is removed before the artefact joins it: it is removed too', async () => {
    await one.put(access({ grantId: undefined }));
    before(ARTEFACT, () => other.removeByGrant('g'));
    expect(await one.replace(access(), { accountId: 'alice' })).toBe(true);
    expect(await there()).toBeUndefined();
    await expectNoGhost();
  });

  test('it is removed before it is written anew', async () => {
    await one.put(access());
    before(ARTEFACT, () => other.remove('Access', 'x'));
    await one.put(access({ n: 2 }));
    await expectNoGhost();
  });

  test.each([
    ['its person', ACCOUNT],
    ['its grant', GRANT],
  ])('it is written anew before it is taken from the index of %s', async (_, key) => {
    await one.put(access());
    before(key, () => other.put(access({ n: 2 })));
    await one.remove('Access', 'x');
    await expectNoGhost();
  });

  test('it is written anew while its grant is removed', async () => {
    await one.put(access());
    before(GRANT, () => other.put(access({ n: 2 })));
    await one.removeByGrant('g');
    expect(await there()).toBeUndefined();
    await expectNoGhost();
  });

  test('it is written while its grant, in which a crash has left its name, is removed', async () => {
    before(ARTEFACT, () => Promise.reject(new Error('crash')));
    await expect(one.put(access())).rejects.toThrow('crash');
    before(GRANT, () => other.put(access()));
    await one.removeByGrant('g');
    await expectNoGhost();
  });

  test('its grant is removed before it is written, but it has another before that is seen: it stays', async () => {
    before(ARTEFACT, () => other.removeByGrant('g'));
    before(LOOK_INTO_GRANT, () => other.put(access({ grantId: 'another' })));
    await one.put(access());
    expect(await there()).toEqual({ accountId: 'alice', grantId: 'another' });
    await expectNoGhost();
  });

  test('it leaves the grant while that is removed: it stays', async () => {
    await one.put(access());
    before(ARTEFACT, () => other.put(access({ grantId: 'another' })));
    await one.removeByGrant('g');
    expect(await there()).toEqual({ accountId: 'alice', grantId: 'another' });
    await expectNoGhost();
  });

  test('if another process writes it anew while it is removed, the new one is removed', async () => {
    await one.put(access());
    before(ARTEFACT, () => other.put(access({ grantId: 'another' })));
    await one.remove('Access', 'x');
    expect(await there()).toBeUndefined();
    expect(await other.listByAccount('Access', 'alice')).toEqual([]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['replaced', () => other.replace(access({ n: 2 }), access().payload)],
    ['removed', () => other.remove('Access', 'x')],
    ['consumed', () => other.consume('Access', 'x')],
  ])('it is %s between the look and the replacement: refused', async (_, work) => {
    await one.put(access());
    let then: unknown;
    before(ARTEFACT, async () => {
      await work();
      then = await there();
    });
    expect(await one.replace(access({ grantId: 'lost' }), access().payload)).toBe(false);
    expect(await there()).toEqual(then);
    await other.removeByGrant('lost');
    expect(await there()).toEqual(then);
    await expectNoGhost();
  });

  const use = (successor: Artefact) =>
    one.consume('Access', 'x', { attempt: 'a', successor: { ...successor, id: 'y' } });
  const left = async () => [await there(), await other.get('Access', 'y')];

  test('its grant is removed before it is used: there is no use and no successor', async () => {
    await one.put(access());
    before(ARTEFACT, () => other.removeByGrant('g'));
    expect(await use(access())).toBe('absent');
    expect(await left()).toEqual([undefined, undefined]);
    expect(await other.listByAccount('Access', 'alice')).toEqual([]);
  });

  test('the grant of its successor is removed before it is used: the successor is removed too', async () => {
    await one.put(access({ grantId: 'another' }));
    before(ARTEFACT, () => other.removeByGrant('g'));
    expect(await use(access())).toBe('first');
    const used = { accountId: 'alice', grantId: 'another', consumed: expect.any(Number) };
    expect(await left()).toEqual([{ ...used, attempt: 'a' }, undefined]);
    await expectNoGhost();
  });

  test('a crash before it is used leaves neither a use nor a successor', async () => {
    await one.put(access());
    before(ARTEFACT, () => Promise.reject(new Error('crash')));
    await expect(use(access())).rejects.toThrow('crash');
    expect(await left()).toEqual([access().payload, undefined]);
    expect(await use(access())).toBe('first');
  });

  test('a crash before the artefact is written leaves names of nothing, and the next attempt works', async () => {
    before(ARTEFACT, () => Promise.reject(new Error('crash')));
    await expect(one.put(access())).rejects.toThrow('crash');
    expect(await there()).toBeUndefined();
    expect(await other.listByAccount('Access', 'alice')).toEqual([]);
    await one.put(access());
    expect(await other.listByAccount('Access', 'alice')).toEqual([access().payload]);
    await expectNoGhost();
  });

  test('a crash before a removed artefact is taken from its indexes leaves names of nothing', async () => {
    await one.put(access());
    before(ACCOUNT, () => Promise.reject(new Error('crash')));
    await expect(one.remove('Access', 'x')).rejects.toThrow('crash');
    expect(await there()).toBeUndefined();
    expect(await other.listByAccount('Access', 'alice')).toEqual([]);
  });
});

test('no key is written by all people who use one client', async () => {
  await using place = await interruptedRedis();
  const artefacts = redisArtefacts(place.undisturbed, 'test', SLOTS, new ManualClock());
  const put = (id: string) =>
    artefacts.put({ kind: 'Access', id, payload: { clientId: 'app', accountId: id, grantId: id } });
  await put('a');
  const keys = (await place.redis.cli('KEYS', '*')).split('\n');
  await put('b');
  const again = (await place.redis.cli('KEYS', '*')).split('\n');
  expect(again).toHaveLength(2 * keys.length);
});
