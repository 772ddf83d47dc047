import { setTimeout as sleep } from 'node:timers/promises';
import { forAll } from '#shared/base/for-all.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { feedOver, FollowedInvalidations } from '../cache/followed-invalidations.ts';
import type { InvalidationFeed, InvalidationListener } from '../cache/invalidations.ts';
import { FollowedRevocations } from '../revocation/followed.ts';
import type { RevocationSet } from '../revocation/revocation-set.ts';
import type { RevocationFeed } from '../revocation/revocations.ts';
import { FollowedTable, type FollowOptions } from './followed-table.ts';

/** Milliseconds between two looks without a request, and after the last commit until PostgreSQL is not trusted. */
const EVERY = 500;
export const SILENCE = 1_000;
/** Milliseconds between two checks whether another server was promoted, if no write failed. */
const PROMOTED = 5_000;

const unknown = () => new StoreUnavailable('the revocations are not known');

/**
 * Opens a feed of revocations that reads for each verdict. Resolves when all rows are read, or cannot be read now. A
 * server that is cut off from its standbys still answers reads, but cannot commit, and a standby may be the primary by
 * now. So without Redis a verdict needs a commit within the last second. `current` needs none: a commit may take a
 * second on a slow disk.
 */
export async function openFeed(options: FollowOptions): Promise<RevocationFeed> {
  const { database, clock, told, silence } = options;
  const followed = new FollowedRevocations();
  const { set, onKeyRevoked } = followed;
  const table = new FollowedTable(options, followed);
  const end = new AbortController();
  /** The time of `monotonic()` at which the last successful commit began. */
  let confirmed = -Infinity;
  const confirm = forAll(async () => {
    const began = clock.monotonic();
    await database.confirm();
    confirmed = began;
  });
  const isConfirmed = () => told?.isCompared ?? clock.monotonic() - confirmed <= SILENCE;

  async function latest(): Promise<RevocationSet> {
    const began = clock.monotonic();
    for (;;) {
      await table.look();
      if (told?.isCompared !== false) break;
      // During a new comparison, the answer may come from a replaced Redis.
      if (clock.monotonic() - began >= silence) throw unknown();
    }
    // A commit that began after the look proves the same: no other server was promoted before.
    if (!isConfirmed()) await confirm();
    return set;
  }

  let looked = clock.monotonic();

  async function tryToLook(): Promise<void> {
    set.sweep(clock.now());
    if (clock.monotonic() - looked >= PROMOTED) {
      looked = clock.monotonic();
      void database.look(SILENCE);
    }
    await told?.recheck().catch(() => {});
    // `current` throws while the last look is too old.
    await Promise.allSettled([table.look(), ...(told === undefined ? [confirm()] : [])]);
  }
  await tryToLook();
  const ended = follow(tryToLook, end.signal);
  return {
    current() {
      if (table.silence > silence) throw unknown();
      return set;
    },
    latest,
    onKeyRevoked,
    status: () => ({
      entries: set.size,
      epoch: set.epoch,
      cursor: String(table.cursor ?? 0),
      silence: table.silence,
      trusted: table.silence <= silence && isConfirmed(),
    }),
    async [Symbol.asyncDispose]() {
      end.abort();
      table.close();
      await ended;
    },
  };
}

async function follow(look: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const pause = () => sleep(EVERY, undefined, { signal }).catch(() => {});
  for (let next = pause(); ;) {
    await next;
    if (signal.aborted) return;
    next = pause();
    await look();
  }
}

/** Opens a feed of invalidations. `from`: the position to begin after; absent: the end. */
export async function openInvalidationFeed(
  options: FollowOptions,
  listener: InvalidationListener,
  from: string | undefined,
): Promise<InvalidationFeed> {
  const followed = new FollowedInvalidations(listener, from);
  const table = new FollowedTable(options, followed);
  await table.look().catch(() => {});
  return feedOver(followed, table);
}
