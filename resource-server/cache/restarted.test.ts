import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { cacheSchema } from '#shared/config/cache-schema.ts';
import { INVALIDATION_LIFE } from '#shared/stores/cache/invalidations.ts';
import { type SqliteUnderTest, sqliteUnderTest } from '#shared/stores/sqlite/under-test.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Space } from '../space/spaces.ts';
import { clientsOf, settled } from './cache.fixture.ts';
import { openCaches } from './open-caches.ts';

const spaceWith = (disk: object = {}) =>
  ({
    url: 'https://rs.example/app/',
    origin: 'https://rs.example',
    segments: ['app'],
    upstream: { url: 'http://127.0.0.1:1/' },
    cache: cacheSchema.parse({ disk: { maxBytes: 16 * 1024 * 1024, ...disk } }),
  }) as unknown as Space;
const LONG = 'x'.repeat(100_000);

let store: SqliteUnderTest;
let stores: Stores;
beforeEach(async () => {
  store = await sqliteUnderTest();
  stores = await store.open();
  await stores.revocations.epoch(true);
});
afterEach(async () => {
  await stores[Symbol.asyncDispose]();
  await store.end();
});

/** Starts a process with a cache. */
async function started(space = spaceWith(), content = LONG) {
  const { clock, folder } = store;
  const caches = await openCaches([space], {
    data: folder,
    stores,
    clock,
    random: systemRandom,
    log: silentLog,
  });
  const opened = caches.of.get(space);
  if (opened === undefined) throw new Error('there is no cache');
  const { asked, ask } = clientsOf(opened.cache, clock);
  /** Returns whether the request reached the application, which then answers. */
  async function isMiss(target: string): Promise<boolean> {
    const client = ask('GET', target);
    client.answered.catch(() => {});
    const answered = client.text();
    const one = await Promise.race([answered.then(() => undefined), shown()]);
    if (one) {
      one.head(200, { 'Cache-Control': 'max-age=1000000' });
      one.sink.write(Buffer.from(content));
      one.sink.end([]);
    }
    expect(await answered).toHaveLength(content.length);
    client.exchange.close();
    return one !== undefined;
  }
  async function shown() {
    for (;;) {
      const one = asked.shift();
      if (one) return one;
      await settled();
    }
  }
  return { isMiss, [Symbol.asyncDispose]: () => caches[Symbol.asyncDispose]() };
}

/** Fills the disk with answers to `/app/a` and `/app/b`. */
async function filled(...of: Parameters<typeof started>) {
  await using process = await started(...of);
  for (const target of ['/app/a', '/app/b']) {
    expect(await process.isMiss(target)).toBe(true);
    while (await process.isMiss(target)); // until all content is on disk
  }
}

const forget = (kind: 'target' | 'ban' | 'tree', value: string) =>
  stores.invalidations.add([{ space: '/app/', kind, value, soft: false }]);

test('answers on disk are there after a restart', async () => {
  await filled();
  await using process = await started();
  expect(await process.isMiss('/app/a')).toBe(false);
  expect(await process.isMiss('/app/b')).toBe(false);
});

test.each([
  [{}, 65_536, true],
  [{}, 65_537, false],
  [{ longerThan: 10 }, 10, true],
  [{ longerThan: 10 }, 11, false],
  [{ longerThan: 0 }, 1, false],
])(
  'whether, with disk %j, an answer of %i octets is requested again after a restart: %s',
  async (disk, octets, asked) => {
    const of = [spaceWith(disk), 'x'.repeat(octets)] as const;
    await filled(...of);
    await using process = await started(...of);
    expect(await process.isMiss('/app/a')).toBe(asked);
  },
);

test.each([
  ['target', '/app/a'],
  ['ban', JSON.stringify({ path: '/a' })],
] as const)(
  'an answer that a %s invalidates while the process is down is removed at its start',
  async (kind, value) => {
    await filled();
    await forget(kind, value);
    await using process = await started();
    expect(await process.isMiss('/app/a')).toBe(true);
    expect(await process.isMiss('/app/b')).toBe(false);
  },
);

test('after a restart all stored answers are removed if the feed no longer has the invalidations since', async () => {
  await filled();
  await forget('target', '/app/z');
  store.clock.advance(INVALIDATION_LIFE / 1000 + 1);
  await forget('target', '/app/y');
  while ((await stores.sweep()) > 0);
  await using process = await started();
  expect(await process.isMiss('/app/b')).toBe(true);
});

test('after a restart with an emptied store, stored answers are not used', async () => {
  await filled();
  await stores[Symbol.asyncDispose]();
  await store.forget();
  stores = await store.open();
  await stores.revocations.epoch(true);
  await using process = await started();
  expect(await process.isMiss('/app/a')).toBe(true);
});
