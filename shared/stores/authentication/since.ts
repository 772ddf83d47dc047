import type { Clock } from '#shared/base/clock.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import type { Once, Proofs, Use } from './proofs.ts';
import type { UseCounts } from './use-counts.ts';

interface Counted {
  readonly proofs: Proofs;
  readonly useCounts: UseCounts;
}

interface After {
  readonly clock: Clock;
  /** Milliseconds; 0: never. */
  readonly restored: number;
  /** Seconds by which the clocks of our servers may differ. */
  readonly skew: number;
}

/** Wraps proofs and counts after a restore, which has forgotten uses: what was made before the restore is refused. */
export function since({ proofs, useCounts }: Counted, { clock, restored, skew }: After): Counted {
  // Nonces have whole seconds.
  const from = 1000 * Math.ceil(restored / 1000 + skew);
  async function unlessForgotten({ made }: Once, use: () => Promise<Use>): Promise<Use> {
    if (restored === 0 || made >= from) return use();
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
