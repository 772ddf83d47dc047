import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import type { Metrics } from './metrics.ts';

/** Reads how fresh the revocations are of which this process knows. */
export function measureFeed(metrics: Metrics, feed: Pick<RevocationFeed, 'status'>): void {
  const { trusted, silence, entries } = feed.status();
  metrics.set('feedTrusted', trusted ? 1 : 0);
  metrics.set('feedLag', silence / 1000);
  metrics.set('feedEntries', entries);
}
