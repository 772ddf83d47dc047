import type { Clock } from '#shared/base/clock.ts';
import { feedOver, FollowedInvalidations } from '../cache/followed-invalidations.ts';
import type { InvalidationFeed, InvalidationListener } from '../cache/invalidations.ts';
import { FollowedRevocations, type RevocationRow } from '../revocation/followed.ts';
import type { RevocationFeed } from '../revocation/revocations.ts';
import { FollowedTable } from './followed-table.ts';

/**
 * Opens a feed of the revocation table. All requests of a turn share one look for new rows (about 2 us), so each sees
 * all revocations that were acknowledged before it came. Resolves when all rows are read, or cannot be read now.
 */
export async function openSqliteFeed(path: string, clock: Clock): Promise<RevocationFeed> {
  const followed = new FollowedRevocations();
  const { set, onKeyRevoked } = followed;
  const table = new FollowedTable(path, clock, {
    table: 'revocation',
    goOn(extent, cursor) {
      set.sweep(clock.now());
      return followed.goOn(extent, cursor);
    },
    apply: (seq, row: RevocationRow) => followed.apply(seq, row),
  });
  await table.begin();
  const latest = () => {
    table.look();
    return set;
  };
  return {
    latest,
    current: latest,
    onKeyRevoked,
    status() {
      table.tryToLook();
      return {
        entries: set.size,
        epoch: set.epoch,
        cursor: String(table.cursor ?? 0),
        silence: clock.now() - table.heard,
        trusted: table.trusted,
      };
    },
    [Symbol.asyncDispose]: async () => table.close(),
  };
}

/** Opens a feed of the invalidation table. `from`: the position to begin after; undefined: the end. */
export async function openSqliteInvalidationFeed(
  path: string,
  clock: Clock,
  listener: InvalidationListener,
  from: string | undefined,
): Promise<InvalidationFeed> {
  const followed = new FollowedInvalidations(listener, from);
  const table = new FollowedTable(path, clock, followed);
  await table.begin();
  return feedOver(followed, table);
}
