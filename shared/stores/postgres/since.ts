import type { Clock } from '#shared/base/clock.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import type { Stores } from '../stores.ts';
import type { Once, Use } from '../authentication/proofs.ts';

type Counted = Pick<Stores, 'proofs' | 'useCounts'>;

/**
 * The same proofs and counts after a restore, which has forgotten what was used until then. `since`: the milliseconds from when on
 * what is made, by whichever of our clocks, is surely new.
 */
export function since({ proofs, useCounts }: Counted, clock: Clock, from: number): Counted {
  async function unlessForgotten({ made }: Once, use: () => Promise<Use>): Promise<Use> {
    if (made >= from) return use();
    if (clock.now() >= from) return 'forgotten';
    throw new StoreUnavailable('the store was just restored, and has forgotten what was used');
  }
  return {
    proofs: {
      spend: (namespace, key, once) =>
        unlessForgotten(once, () => proofs.spend(namespace, key, once)),
    },
    useCounts: {
      use: (namespace, key, count, once) =>
        unlessForgotten(once, () => useCounts.use(namespace, key, count, once)),
    },
  };
}
