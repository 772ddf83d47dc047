import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Edit } from '#shared/stores/trees/trees.ts';
import { until } from '../../../../e2e/parts/process.ts';
import { startRedis } from '../../../../e2e/parts/redis.ts';
import type { Redis } from '../../../../e2e/parts/redis.ts';
import {
  copy,
  edit,
  membersIn,
  move,
  puts,
  someCollection,
  someDocument,
  someLock,
} from '../../contract/samples.ts';
import { openPatiently, redisConfig } from '../under-test.ts';

const TREE = '/documents';

let redis: Redis;
let stores: Stores;
beforeAll(async () => {
  redis = await startRedis({ appendonly: true });
  stores = await openPatiently(redisConfig({ urls: [redis.url] }));
});
afterAll(async () => {
  await stores[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await redis.cli('FLUSHALL');
});

const keys = async () =>
  (await redis.cli('KEYS', '*'))
    .split('\n')
    .map((key) => key.replace('{test:%2Fdocuments}:', ''))
    .toSorted();

test('RFC 4918 section 9.9: killed in the midst of moves and copies: each is done or not done', async () => {
  const documents = Array.from({ length: 2_000 }, (_, n) => someDocument(`a/${n}`));
  await edit(stores, TREE, puts(someCollection('a'), ...documents));
  const { usage } = await stores.trees.look(TREE, []);
  const changes: Edit[][] = [[move('a', 'b')], [copy('b', 'a')], [{ kind: 'remove', path: 'b' }]];
  for (let round = 0; round < 5; round++) {
    const changed: string[] = [];
    const changing = (async () => {
      for (;;) {
        for (const edits of changes) {
          changed.push((await edit(stores, TREE, edits)).kind);
        }
      }
    })();
    const broken = expect(changing).rejects.toBeInstanceOf(StoreUnavailable);
    const enough = Math.floor(Math.random() * 10);
    while (changed.length <= enough) await new Promise(setImmediate);
    await redis.kill();
    await broken;
    await redis.start();
    await until(async () => stores.ping().then(() => true));
    const top = (await membersIn(stores, TREE)).map(({ path }) => path);
    expect(['a', 'b', 'a,b']).toContain(top.join());
    for (const path of top) {
      expect(await stores.trees.below(TREE, path, 9_999)).toHaveLength(documents.length);
    }
    expect((await stores.trees.look(TREE, [])).usage).toEqual({
      bytes: top.length * usage.bytes,
      entries: top.length * usage.entries,
    });
    const files = await stores.trees.files(TREE);
    expect(files).toEqual(new Set(documents.map(({ file }) => file)));
    await edit(stores, TREE, [
      ...(top.includes('a') ? [{ kind: 'remove', path: 'b' } as const] : []),
      ...(top.includes('a') ? [] : [move('b', 'a')]),
    ]);
  }
});

test('a server without memory refuses what adds, does none of it, and still removes', async () => {
  await edit(stores, TREE, puts(someCollection('a'), someDocument('a/x', { file: 'f' })));
  await redis.cli('CONFIG', 'SET', 'maxmemory', '1');
  try {
    const before = [await stores.trees.below(TREE, '', 9), await stores.trees.look(TREE, [])];
    const adding: Edit[] = [{ kind: 'lock', lock: someLock('a') }, copy('a', 'b')];
    await expect(edit(stores, TREE, adding)).rejects.toBeInstanceOf(StoreUnavailable);
    expect([await stores.trees.below(TREE, '', 9), await stores.trees.look(TREE, [])]).toEqual(
      before,
    );
    expect(await edit(stores, TREE, [{ kind: 'remove', path: 'a' }])).toEqual({
      kind: 'done',
      released: ['f'],
    });
  } finally {
    await redis.cli('CONFIG', 'SET', 'maxmemory', '0');
  }
});

test('RFC 4918 section 4: dead properties are not sent for a list', async () => {
  const properties = { '{x:}y': 'z'.repeat(100_000) };
  const documents = Array.from({ length: 20 }, (_, n) => someDocument(`${n}`, { properties }));
  await edit(stores, TREE, puts(...documents));
  const sent = async () => {
    const stats = await redis.cli('INFO', 'stats');
    return Number(/total_net_output_bytes:(\d+)/.exec(stats)?.[1]);
  };
  const before = await sent();
  expect((await stores.trees.list(TREE, '', '', 99))?.members).toHaveLength(20);
  const listed = (await sent()) - before;
  expect(await membersIn(stores, TREE)).toHaveLength(20);
  const whole = (await sent()) - before - listed;
  expect(whole).toBeGreaterThan(20 * 100_000);
  expect(listed).toBeLessThan(100_000);
});

test('a tree that was emptied leaves its counters only, so that no version of its locks comes again', async () => {
  const lock = someLock('a');
  await edit(stores, TREE, [
    ...puts(someCollection(''), someDocument('a')),
    { kind: 'lock', lock },
  ]);
  const { locksVersion } = await stores.trees.look(TREE, []);
  await edit(stores, TREE, [
    { kind: 'remove', path: 'a' },
    { kind: 'unlock', locks: [lock] },
  ]);
  expect(await keys()).toEqual(['relocked', 'rows', 'tree']);
  expect((await stores.trees.look(TREE, [])).locksVersion).not.toBe(locksVersion);
  expect((await stores.trees.look(TREE, [])).usage).toEqual({ bytes: 0, entries: 0 });
});
