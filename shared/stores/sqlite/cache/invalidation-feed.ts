import type { Clock } from '#shared/base/clock.ts';
import { oncePerTurn } from '#shared/base/turn.ts';
import { FollowedInvalidations } from '../../cache/followed-invalidations.ts';
import type { InvalidationFeed, InvalidationListener } from '../../cache/invalidations.ts';
import { FollowedTable } from '../revocation/followed-table.ts';

/** Opens a feed of the invalidation table. `from`: the position to begin behind; undefined: the end. */
export async function openSqliteInvalidationFeed(
  path: string,
  clock: Clock,
  listener: InvalidationListener,
  from: string | undefined,
): Promise<InvalidationFeed> {
  const followed = new FollowedInvalidations(listener, from);
  const table = new FollowedTable(path, clock, followed);
  await table.begin();
  /** When the last look began, of `monotonic()`. */
  let looked = -Infinity;
  /** Once for all requests that are handled together. */
  const look = oncePerTurn(() => {
    const began = clock.monotonic();
    table.look();
    looked = began;
  });
  return {
    get position() {
      return followed.position(table.cursor);
    },
    latest(since) {
      if (since >= looked) look();
    },
    async [Symbol.asyncDispose]() {
      looked = -Infinity;
      table.close();
    },
  };
}
