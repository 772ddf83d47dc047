import { setTimeout as sleep } from 'node:timers/promises';
import { forAll } from '#shared/base/for-all.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import type {
  Invalidation,
  InvalidationFeed,
  InvalidationListener,
} from '../cache/invalidations.ts';
import { type FeedPosition, readPosition, writePosition } from '../revocation/feed-position.ts';
import { RevocationSet } from '../revocation/revocation-set.ts';
import type { RevocationFeed } from '../revocation/revocations.ts';
import { type Extent, FollowedTable, type FollowOptions } from './followed-table.ts';

/** Milliseconds between two looks that nobody has asked for, and without a commit after which PostgreSQL is not trusted. */
const EVERY = 500;
export const SILENCE = 1_000;

type RevocationRow = readonly [
  until: number,
  ...(
    | [kind: 'token' | 'grant' | 'key', id: string, generation: null]
    | [kind: 'person' | 'client', id: string, generation: number]
  ),
];

const unknown = () => new StoreUnavailable('the revocations are not known');

/**
 * Opens a feed of revocations, which asks for each verdict. Resolves when all is read, or cannot be read now. A server that is
 * cut off from its standbys, of which one may be the primary by now, still answers questions, but commits nothing: so
 * without Redis a view counts only while a commit has succeeded within the last second.
 */
export async function openFeed(options: FollowOptions): Promise<RevocationFeed> {
  const { database, clock, told, silence } = options;
  const set = new RevocationSet();
  const listeners: ((kid: string) => void)[] = [];
  const table = new FollowedTable<RevocationRow>(options, {
    table: 'revocation',
    /** Reads all again when the memory is another one. Known revocations stay. */
    goOn({ epoch }, cursor = 0) {
      const same = epoch === set.epoch;
      set.epoch = epoch;
      return same ? cursor : 0;
    },
    apply(_, [until, kind, id, generation]) {
      const raised = kind === 'person' || kind === 'client';
      set.apply(raised ? { kind, id, generation } : { kind, id }, until);
      if (kind === 'key') for (const listener of listeners) listener(id);
    },
  });
  const end = new AbortController();
  /** When the last commit that succeeded began, of `monotonic()`. */
  let confirmed = -Infinity;
  const confirm = forAll(async () => {
    const began = clock.monotonic();
    await database.confirm();
    confirmed = began;
  });
  const isConfirmed = () => told?.isCompared ?? clock.monotonic() - confirmed <= SILENCE;
  const isTrusted = () => table.silence <= silence && isConfirmed();

  async function latest(): Promise<RevocationSet> {
    await table.look();
    if (told !== undefined && !isConfirmed()) throw unknown();
    // A commit that began after the look tells as much of it: no other server was promoted before.
    if (!isConfirmed()) await confirm();
    return set;
  }

  async function tryToLook(): Promise<void> {
    set.sweep(clock.now());
    try {
      if (told === undefined) await confirm();
      else await told.recheck().catch(() => {});
      await latest();
    } catch {
      // `current` throws as long as the last look is too old.
    }
  }
  await tryToLook();
  const ended = follow(tryToLook, end.signal);
  return {
    current() {
      if (!isTrusted()) throw unknown();
      return set;
    },
    latest,
    onKeyRevoked: (listener) => void listeners.push(listener),
    status: () => ({
      entries: set.size,
      epoch: set.epoch,
      cursor: String(table.cursor ?? 0),
      silence: table.silence,
      trusted: isTrusted(),
    }),
    async [Symbol.asyncDispose]() {
      end.abort();
      table.close();
      await ended;
    },
  };
}

async function follow(look: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(EVERY, undefined, { signal }).catch(() => {});
    if (!signal.aborted) await look();
  }
}

type InvalidationRow = readonly [
  space: string,
  kind: Invalidation['kind'],
  value: string,
  soft: number,
  at: number,
];

/** Opens a feed of invalidations. `from`: the position to begin behind; absent: the end. */
export async function openInvalidationFeed(
  options: FollowOptions,
  listener: InvalidationListener,
  from: string | undefined,
): Promise<InvalidationFeed> {
  let epoch = '';
  let start: FeedPosition | 'at the end' | undefined =
    from === undefined ? 'at the end' : readPosition(from);
  const positionOf = (seq: number) => writePosition({ epoch, entry: String(seq) });

  /** Begins at the end when the memory is another one, is behind the cursor or has forgotten what came after it. */
  function goOn(extent: Extent, cursor: number | undefined): number {
    const known = cursor === undefined ? start : { epoch, entry: String(cursor) };
    start = undefined;
    epoch = extent.epoch;
    if (known === 'at the end') return extent.last;
    const entry = known?.epoch === epoch ? Number(known.entry) : -1;
    if (extent.first - 1 <= entry && entry <= extent.last) return entry;
    listener.lost();
    return extent.last;
  }

  const table = new FollowedTable<InvalidationRow>(options, {
    table: 'invalidation',
    goOn,
    apply: (seq, [space, kind, value, soft, at]) =>
      listener.apply({ space, kind, value, soft: soft !== 0, at, position: positionOf(seq) }),
  });
  await table.look().catch(() => {});
  return {
    get position() {
      if (table.cursor !== undefined) return positionOf(table.cursor);
      return typeof start === 'object' ? writePosition(start) : '';
    },
    async latest(since) {
      if (since >= table.confirmed) await table.look();
    },
    async [Symbol.asyncDispose]() {
      table.close();
    },
  };
}
