import { join } from 'node:path';
import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import { type Random, randomId } from '#shared/base/random.ts';
import { portion } from '#shared/base/workers.ts';
import { type CacheConfig, cacheName } from '#shared/config/cache-schema.ts';
import { upstreamUrls } from '#shared/config/upstream-schema.ts';
import type { Chore } from '#shared/server/chore.ts';
import { type CacheReport, writeReport } from '#shared/stores/cache/reports.ts';
import type { InvalidationFeed, Invalidations } from '#shared/stores/cache/invalidations.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Space } from '../space/spaces.ts';
import { type Cache, createCache } from './cache.ts';
import { Bans } from './purge/bans.ts';
import { createPurge, type Purge } from './purge/purge.ts';
import { groupOf } from '#shared/http/spelling.ts';
import type { CacheStore } from './store/cache-store.ts';
import { type CacheDisk, openDisk } from './store/disk.ts';
import { MemoryStore } from './store/memory.ts';
import { TieredStore } from './store/tiers.ts';

/** Milliseconds for which a store that answered a ping counts as writable. */
const WRITABLE = 1000;
/** Seconds between two writes of the feed's position, and between two reports. */
const POSITION = 5;
const REPORT = 20;
/** Seconds between two removals of files that ended processes left on the disk. */
const TIDY = 3600;

export interface CachesParts {
  /** The server's data folder. */
  readonly data: string;
  readonly stores: Pick<Stores, 'cacheReports' | 'ping'> & {
    readonly invalidations: Pick<Invalidations, 'add' | 'feed'>;
  };
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface SpaceCache {
  readonly cache: Cache;
  /** Present if the space supports PURGE and BAN. */
  readonly purge: Purge | undefined;
}

export interface Caches extends AsyncDisposable {
  readonly of: ReadonlyMap<Space, SpaceCache>;
  readonly chores: readonly Chore[];
}

interface Open extends SpaceCache {
  readonly name: string;
  readonly origin: string;
  readonly store: CacheStore;
  readonly bans: Bans;
}

/** Opens a cache for each space that has one, and the feed that tells the caches what to remove. */
export async function openCaches(spaces: readonly Space[], parts: CachesParts): Promise<Caches> {
  const cached = spaces.flatMap((space) => (space.cache ? { space, config: space.cache } : []));
  if (cached.length === 0) return { of: new Map(), chores: [], async [Symbol.asyncDispose]() {} };
  const { stores, clock, log, data } = parts;
  await using opened = new AsyncDisposableStack();
  const onDisk = cached.filter(({ config }) => config.disk).map(({ space }) => diskName(space));
  const disk = onDisk.length > 0 ? await openIfRoom(join(data, 'cache'), onDisk, log) : undefined;
  if (disk) opened.use(disk);

  let feed: InvalidationFeed | undefined;
  const latest = (since: number) => feed?.latest(since);
  const writable = remembered(() => stores.ping(), clock);
  const all = new Map(
    cached.map(({ space, config }) => [space, open(space, config)] satisfies [Space, Open]),
  );
  for (const { bans, store } of all.values()) {
    opened.use(store);
    opened.use(bans);
  }
  // Without a position, the invalidations since the last run are unknown, so the cache starts empty.
  if (disk?.position === undefined) for (const { store } of all.values()) await store.clear();
  feed = await stores.invalidations.feed(
    {
      apply({ space, soft, at, ...forgotten }) {
        for (const { name, cache } of all.values()) {
          if (name === space) cache.forget(forgotten, soft, at);
        }
      },
      lost() {
        log.warn('cache.emptied', { reason: 'what was to be forgotten is not known' });
        for (const { cache } of all.values()) cache.clear();
      },
    },
    disk?.position,
  );
  opened.use(feed);
  const note = () => {
    const isDone = [...all.values()].every(({ bans }) => bans.pending === 0);
    if (isDone && feed && feed.position !== disk?.position) disk?.setPosition(feed.position);
  };
  // Written before the first answer is stored: at the next start, stored answers without a position would be removed.
  note();
  opened.defer(note);
  const process = randomId(parts.random);
  const report = async () => {
    await latest(clock.monotonic()); // without regular reads, an idle process would fall behind the feed and have to empty its cache
    await stores.cacheReports.put(process, writeReport([...all.values()].map(reportOf)));
  };

  const rest = opened.move();
  return {
    of: all,
    chores: [
      ...(disk
        ? [
            { name: 'cache.position', seconds: POSITION, run: async () => note() },
            { name: 'cache.tidy', seconds: TIDY, run: () => disk.tidy(clock.now()) },
          ]
        : []),
      { name: 'cache.report', seconds: REPORT, run: report },
    ],
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };

  function open(space: Space, config: CacheConfig): Open {
    const { kind, heuristic, targeted, purge } = config;
    const name = cacheName(space.url);
    const store = storeOf(space, config, disk);
    const spelling = { depth: space.segments.length, normal: groupOf };
    const bans = new Bans({ store, spelling, log });
    const rules = {
      shared: kind === 'shared',
      heuristic,
      targeted: targeted.map((field) => field.toLowerCase()),
      made: madeFor(space),
      origin: space.origin,
    };
    const { invalidations } = stores;
    const cache = createCache({
      ...parts,
      rules,
      store,
      bans,
      feed: { latest },
      writable,
      invalidate: (forgotten) =>
        invalidations.add(forgotten.map((one) => ({ space: name, soft: false, ...one }))),
    });
    const evict = (target: string, soft: boolean) => store.removeTarget(target, soft);
    return {
      name,
      origin: space.origin,
      store,
      bans,
      cache,
      purge: purge && createPurge({ space: name, evict, invalidations }),
    };
  }
}

/** Returns undefined if the disk has no room: the cache then uses memory only. */
async function openIfRoom(
  folder: string,
  spaces: readonly string[],
  log: Log,
): Promise<CacheDisk | undefined> {
  try {
    return await openDisk({ folder, spaces });
  } catch (error) {
    log.error('cache.disk.failed', { reason: String(error) });
    return undefined;
  }
}

/**
 * Names the space on disk. Another application or other rules give another name, so that their entries are not used.
 */
function diskName(space: Space): string {
  const { url, upstream, identity, cache } = space;
  const { kind, heuristic, targeted } = cache ?? {};
  const places = upstreamUrls(upstream);
  return JSON.stringify([url, places, kind, heuristic, targeted, identity ?? {}, upstream?.pass]);
}

/** Fields that the gateway writes for this application, or that it passes on only from trusted proxies. */
const madeFor = ({ identity = {}, upstream }: Space): ReadonlySet<string> =>
  new Set([...Object.keys(identity), ...(upstream?.pass ?? [])].map((name) => name.toLowerCase()));

function storeOf(space: Space, config: CacheConfig, disk: CacheDisk | undefined): CacheStore {
  const memory = new MemoryStore(portion(config.maxBytes));
  if (!config.disk || !disk) return memory;
  const { maxBytes, longerThan } = config.disk;
  return new TieredStore(memory, disk.store(diskName(space), portion(maxBytes)), longerThan);
}

function reportOf({ name, origin, store, bans, cache }: Open): CacheReport[number] {
  return {
    space: name,
    origin,
    ...store.stats(),
    counts: cache.counts,
    bans: [...bans.list()],
  };
}

/** Caches a successful check for one second. */
function remembered(look: () => Promise<void>, clock: Clock): () => Promise<void> {
  let until = -Infinity;
  return async () => {
    if (clock.monotonic() < until) return;
    await look();
    until = clock.monotonic() + WRITABLE;
  };
}
