import { setTimeout as sleep } from 'node:timers/promises';
import { forAll } from '#shared/base/for-all.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { FollowedInvalidations } from '../cache/followed-invalidations.ts';
import type { InvalidationFeed, InvalidationListener } from '../cache/invalidations.ts';
import { FollowedRevocations } from '../revocation/followed.ts';
import type { RevocationSet } from '../revocation/revocation-set.ts';
import type { RevocationFeed } from '../revocation/revocations.ts';
import { FollowedTable, type FollowOptions } from './followed-table.ts';

/** Milliseconds between two looks that nobody has asked for, and without a commit after which PostgreSQL is not trusted. */
const EVERY = 500;
export const SILENCE = 1_000;

const unknown = () => new StoreUnavailable('the revocations are not known');

/**
 * Opens a feed of revocations, which asks for each verdict. Resolves when all is read, or cannot be read now. A server that is
 * cut off from its standbys, of which one may be the primary by now, still answers questions, but commits nothing: so
 * without Redis a view counts only while a commit has succeeded within the last second.
 */
export async function openFeed(options: FollowOptions): Promise<RevocationFeed> {
  const { database, clock, told, silence } = options;
  const followed = new FollowedRevocations();
  const { set, onKeyRevoked } = followed;
  const table = new FollowedTable(options, followed);
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
    onKeyRevoked,
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

/** Opens a feed of invalidations. `from`: the position to begin behind; absent: the end. */
export async function openInvalidationFeed(
  options: FollowOptions,
  listener: InvalidationListener,
  from: string | undefined,
): Promise<InvalidationFeed> {
  const followed = new FollowedInvalidations(listener, from);
  const table = new FollowedTable(options, followed);
  await table.look().catch(() => {});
  return {
    get position() {
      return followed.position(table.cursor);
    },
    async latest(since) {
      if (since >= table.confirmed) await table.look();
    },
    async [Symbol.asyncDispose]() {
      table.close();
    },
  };
}
