import type { Log } from '#shared/base/log.ts';
import type { Need } from '#shared/stores/outage/need.ts';
import { Outage } from '#shared/stores/outage/outage.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Ready } from './endpoints/health.ts';

interface ReadinessParts {
  readonly stores: Pick<Stores, 'ping' | 'check'>;
  readonly feed: Pick<RevocationFeed, 'latest'>;
  readonly log: Log;
  monotonic(): number;
  /**
   * True if no authorization server has used the store before: then the server is not ready, though nothing has
   * failed.
   */
  readonly isNew: boolean;
}

/**
 * Creates the check whether the server can do its work, which logs a failure. It does not log failures that a part of
 * the store reports itself: such a part is reported as failing until it has worked for some seconds, which would look
 * like a second outage.
 */
export function createReady({ stores, feed, log, monotonic, isNew }: ReadinessParts): Ready {
  const pinged = { reading: -Infinity, all: -Infinity };
  const outage = new Outage('readiness', log, monotonic);
  let hasWorked = !isNew;

  async function ask(need: Need, asks: Parameters<Ready>[1]): Promise<void> {
    asks?.('the feed of revocations');
    await feed.latest();
    asks?.('the store');
    // One write a second suffices for all callers.
    if (monotonic() >= pinged[need] + 1000) {
      await stores.ping(need);
      pinged[need] = monotonic();
    }
  }

  function isTold(need: Need): boolean {
    try {
      stores.check(need);
      return false;
    } catch {
      return true;
    }
  }

  return async (need = 'all', asks) => {
    const isAll = need === 'all';
    try {
      await ask(need, asks);
    } catch (error) {
      if (hasWorked && isAll && !isTold(need)) outage.failed(error);
      throw error;
    }
    stores.check(need);
    hasWorked = true;
    if (isAll) outage.worked();
  };
}
