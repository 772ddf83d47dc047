import type { Log } from '#shared/base/log.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import type { Chore } from './chore.ts';

/** Logs an error if the store has lost its data or was restored: every earlier token is then refused. */
export function watchMemory(feed: Pick<RevocationFeed, 'status'>, log: Log): Chore {
  let known = feed.status().epoch;
  return {
    name: 'store.memory',
    seconds: 1,
    async run() {
      const was = known;
      known = feed.status().epoch;
      if (was === undefined || was === known) return;
      const reason =
        known === undefined
          ? 'the store is empty: no token is accepted any more'
          : 'the store is another, or was emptied or restored: no token from before is accepted any more';
      log.error('store.memory', { reason, was, now: known });
    },
  };
}
