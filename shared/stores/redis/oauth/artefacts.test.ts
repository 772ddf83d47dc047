import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { Artefact, Artefacts } from '#shared/stores/oauth/artefacts.ts';
import { redisArtefacts } from './artefacts.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';
import { manySlots, oneSlot, type Slots } from '../connection/slots.ts';
import { moveToManySlots } from '../to-many-slots.ts';
import { startedBefore } from '../under-test.ts';

const SLOTS = { slots: manySlots('test'), peopleSlots: manySlots('test') };
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

describe('redis spread moves what clients were allowed', () => {
  let place: Awaited<ReturnType<typeof interruptedRedis>>;
  beforeAll(async () => {
    place = await interruptedRedis();
  });
  afterAll(() => place[Symbol.asyncDispose]());

  const CLIENTS = ['app', 'https://app.example/{a}:b', ''];
  const of = (slots: Slots) =>
    redisArtefacts(place.undisturbed, 'test', { ...SLOTS, peopleSlots: slots }, new ManualClock());
  const run = (redis = place.undisturbed) =>
    moveToManySlots(redis, 'test', { random: systemRandom, sure: async () => {}, tell() {} });
  const idsIn = async (artefacts: Artefacts, clientId: string) => {
    const page = await artefacts.pageByClient('Access', clientId, { limit: 2000 });
    return page.found.map(({ id }) => id);
  };
  const former = () => place.redis.cli('KEYS', 'test:client:*');

  beforeEach(async () => {
    await place.redis.cli('FLUSHALL');
    await startedBefore(place.redis);
    const put = (clientId: string, id: string, seconds?: number) =>
      of(oneSlot('test')).put({
        kind: 'Access',
        id,
        payload: { clientId, id },
        ...(seconds !== undefined && { seconds }),
      });
    await Promise.all(Array.from({ length: 600 }, (_, n) => put('app', `${n}`, 1000 + n)));
    for (const clientId of CLIENTS) await put(clientId, `of ${clientId}:always`);
    await place.redis.cli('ZADD', 'test:client:Access:app', '1', 'Access:ended');
    expect((await former()).split('\n')).toHaveLength(CLIENTS.length);
  });

  async function expectAllMoved(): Promise<void> {
    expect(await former()).toBe('');
    const now = of(manySlots('test'));
    const [first, ...rest] = await idsIn(now, 'app');
    expect(first).toBe('of app:always');
    expect(rest).toEqual(Array.from({ length: 600 }, (_, n) => `${599 - n}`));
    for (const clientId of CLIENTS.slice(1)) {
      expect(await idsIn(now, clientId)).toEqual([`of ${clientId}:always`]);
    }
    expect(await place.redis.cli('PTTL', '{test:o}:client:Access:app')).toBe('-1');
    const left = Number(await place.redis.cli('PTTL', '{test:5}:client:Access:app'));
    expect(left).toBeGreaterThan(1_000_000);
    expect(left).toBeLessThanOrEqual(1_600_000);
  }

  test('with the life that each has left', async () => {
    await run();
    await expectAllMoved();
  });

  test.each([
    ['a set is read', /^SCRIPT test:client:/],
    ['a slice is written', /^SCRIPT \{test:.\}:client:/],
    ['the set is removed', /^DEL test:client:/],
  ])('stopped before %s: the next run finishes it', async (_, step) => {
    const work = () => Promise.reject(new Error('stopped'));
    place.connection.interruptions.push({ before: step, work });
    await expect(run(place.connection)).rejects.toThrow('stopped');
    await run();
    await expectAllMoved();
  });

  test('a run that stands still brings nothing back after another one', async () => {
    place.connection.interruptions.push({
      before: /^SCRIPT \{test:.\}:client:/,
      async work() {
        await run();
        const written = (await place.redis.cli('KEYS', '{test:?}:client:*')).split('\n');
        for (const key of written) await place.redis.cli('DEL', key);
      },
    });
    await expect(run(place.connection)).rejects.toThrow('another run of the command');
    expect(await place.redis.cli('KEYS', '*:client:*')).toBe('');
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
