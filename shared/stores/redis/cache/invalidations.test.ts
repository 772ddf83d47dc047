import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startRedis } from '../../../../e2e/parts/redis.ts';
import type { Redis } from '../../../../e2e/parts/redis.ts';
import { eventually } from '../../contract/eventually.ts';
import { listening } from '../../contract/cache/invalidations.ts';
import { FAR, someInvalidation } from '../../contract/samples.ts';
import {
  INVALIDATION_LIFE,
  type KeptInvalidation,
  MOST_INVALIDATIONS,
} from '../../cache/invalidations.ts';
import type { Stores } from '../../stores.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { openPatiently, openTestRedis, redisConfig, someClaims } from '../under-test.ts';

const STREAM = '{test}:invalidations';

let redis: Redis;
let stores: Stores;
beforeAll(async () => {
  redis = await startRedis({ appendonly: true });
  stores = await openPatiently(redisConfig({ urls: [redis.url] }));
  await stores.revocations.epoch(true);
});
afterAll(async () => {
  await stores[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await redis.cli('DEL', STREAM);
});

const add = (...values: readonly string[]) =>
  stores.invalidations.add(values.map((value) => someInvalidation(value)));
const valuesOf = (heard: readonly (KeptInvalidation | 'lost')[]) =>
  heard.map((each) => (each === 'lost' ? each : each.value));
const entry = (id: string, value: string, kind = 'target') =>
  redis.cli('XADD', STREAM, id, 'space', '', 'kind', kind, 'value', value, 'soft', '0');

/** How often Redis was asked what since it was started. */
async function calls(command: string): Promise<number> {
  const stats = await redis.cli('INFO', 'commandstats');
  const [, count] = stats.split(`cmdstat_${command}:calls=`);
  return Number.parseInt(count ?? '0', 10);
}

async function callsOf(command: string, work: () => Promise<unknown>): Promise<number> {
  const before = await calls(command);
  await work();
  return (await calls(command)) - before;
}

describe('one question for both feeds', () => {
  test('with a verdict it is the one for revocations; an earlier reader asks nothing', async () => {
    const claims = await someClaims(stores);
    await using feed = await stores.revocations.feed();
    // Its own connection asks as well, twice a second.
    const once = async () => {
      expect(await callsOf('xinfo|stream', async () => feed.latest())).toBe(1);
      expect(await callsOf('xrange', async () => feed.latest())).toBe(0);
    };
    await eventually(once);
    await using listener = await listening(stores);
    const both = async () => {
      const arrived = -1;
      await add('x');
      await stores.revocations.revoke('token', claims.jti, FAR);
      const asked = await callsOf('evalsha', async () => {
        expect((await feed.latest()).revokedBy(claims)).toBe('token');
        await listener.feed.latest(arrived);
      });
      expect(valuesOf(listener.heard.splice(0))).toEqual(['x']);
      expect(asked).toBe(1);
    };
    await eventually(both);
  });

  test('goes on by itself when that feed ends', async () => {
    const feed = await stores.revocations.feed();
    await using listener = await listening(stores);
    await feed[Symbol.asyncDispose]();
    await add('x');
    expect(valuesOf(await listener.hear())).toEqual(['x']);
  });

  test('an end of one that has its own ends no other', async () => {
    const first = await listening(stores);
    await using second = await listening(stores);
    await first.feed[Symbol.asyncDispose]();
    await add('x');
    expect(valuesOf(await second.hear())).toEqual(['x']);
  });
});

describe('a stream that is not where it was', () => {
  test('trimmed with what comes after the cursor: all is lost; trimmed up to it: nothing is', async () => {
    await using ahead = await listening(stores);
    const { position } = ahead.feed;
    await add('a', 'b');
    await ahead.hear();
    await redis.cli('XTRIM', STREAM, 'MAXLEN', '1');
    await add('c');
    expect(valuesOf(await ahead.hear())).toEqual(['c']);
    await using behind = await listening(stores, position);
    expect(await behind.hear()).toEqual(['lost']);
    await redis.cli('XTRIM', STREAM, 'MAXLEN', '0');
    for (const { hear } of [ahead, behind]) expect(await hear()).toEqual(['lost']);
  });

  test('gone, and begun again: all is lost', async () => {
    await using listener = await listening(stores);
    await add('a');
    await listener.hear();
    await redis.cli('DEL', STREAM);
    expect(await listener.hear()).toEqual(['lost']);
    await add('b');
    expect(valuesOf(await listener.hear())).toEqual(['b']);
  });

  test('on a new master, without the last entry of the old one: all is lost, whatever came before it', async () => {
    await entry('900-0', 'known');
    await using listener = await listening(stores);
    await entry('1000-0', 'never acknowledged');
    await listener.hear();
    await redis.cli('DEL', STREAM);
    for (const id of ['900-0', '950-0', '1001-0']) await entry(id, id);
    expect(await listener.hear()).toEqual(['lost']);
    await entry('1002-0', 'x');
    expect(valuesOf(await listener.hear())).toEqual(['x']);
  });

  test('with an entry that cannot be understood: all is lost, revocations go on', async () => {
    const claims = await someClaims(stores);
    await add('before');
    await using feed = await stores.revocations.feed();
    await using listener = await listening(stores);
    await entry('*', 'a');
    await entry('*', 'x', 'tenant');
    await entry('*', 'b');
    expect((await feed.latest()).revokedBy(claims)).toBeUndefined();
    expect(valuesOf(await listener.hear())).toEqual(['a', 'lost', 'b']);
    await entry('*', 'c');
    expect(valuesOf(await listener.hear())).toEqual(['c']);
  });

  test.each(['99999999999999999999-1', '1-99999999999999999999', '5', '0-0'])(
    'behind %s, no entry that Redis could be asked for: all is lost, revocations go on',
    async (id) => {
      await using feed = await stores.revocations.feed();
      await add('before');
      const epoch = (await stores.revocations.epoch(false)) ?? '';
      await using listener = await listening(stores, `${epoch}:${id}`);
      expect(await listener.hear()).toEqual(['lost']);
      await feed.latest();
    },
  );
});

describe('the bounds', () => {
  test('sweep removes what is older than a day, but for the last hundred', async () => {
    const day = Date.now() - INVALIDATION_LIFE;
    for (let n = 0; n < 150; n++) await entry(`${day - 10_000}-${n}`, `${n}`);
    await using listener = await listening(stores);
    await stores.sweep();
    expect(await redis.cli('XLEN', STREAM)).toBe('100');
    await entry(`${day + 3_600_000}-0`, 'young');
    expect(valuesOf(await listener.hear())).toEqual(['young']);
    await add(...Array.from({ length: 100 }, (_, n) => `${n}`));
    await stores.sweep();
    expect(await redis.cli('XLEN', STREAM)).toBe('101');
    expect(await listener.hear()).toHaveLength(100);
    expect(await stores.sweep()).toBe(0);
  });

  test('the oldest invalidations go if there are more than can be kept', async () => {
    const fill = `for n = 1, ${MOST_INVALIDATIONS} do
      redis.call('XADD', KEYS[1], '*', 'space', '', 'kind', 'target', 'value', n, 'soft', '0')
    end`;
    await add('first');
    const [first] = await stores.invalidations.list('target', 1);
    await redis.cli('EVAL', fill, '1', STREAM);
    await using ahead = await listening(stores);
    await add(...Array.from({ length: 200 }, (_, n) => `${n}`));
    expect(Number(await redis.cli('XLEN', STREAM))).toBeLessThan(MOST_INVALIDATIONS + 200);
    expect(await ahead.hear()).toHaveLength(200);
    await using behind = await listening(stores, first?.position);
    expect(await behind.hear()).toEqual(['lost']);
  });
});

describe('a server in trouble', () => {
  test('hung or killed: nobody can say; back again it goes on where it was, and nothing is lost', async () => {
    await using impatient = await openTestRedis(redisConfig({ urls: [redis.url] }));
    await using listener = await listening(impatient);
    await add('a');
    redis.hang();
    try {
      await expect(listener.hear()).rejects.toBeInstanceOf(StoreUnavailable);
    } finally {
      redis.wake();
    }
    expect(valuesOf(await eventually(() => listener.hear()))).toEqual(['a']);
    await add('b');
    await redis.kill();
    await expect(listener.hear()).rejects.toBeInstanceOf(StoreUnavailable);
    await using early = await listening(impatient, listener.feed.position);
    await expect(early.hear()).rejects.toBeInstanceOf(StoreUnavailable);
    await redis.start();
    for (const { hear } of [listener, early]) {
      expect(valuesOf(await eventually(hear))).toEqual(['b']);
    }
    await eventually(() => stores.ping());
  });
});
