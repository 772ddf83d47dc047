import { listKeys, type keyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import { algLabel, KEY_STATES, stateLabel } from './labels.ts';
import type { Metrics } from './metrics.ts';

/** Reads how many keys there are in each state, and how old those are that sign. Rejects as the store does. */
export async function measureKeys(
  metrics: Metrics,
  life: ReturnType<typeof keyLifecycle>,
): Promise<void> {
  const keys = await listKeys(life);
  for (const each of KEY_STATES) {
    metrics.set('keys', keys.filter(({ state }) => state === each).length, stateLabel(each));
  }
  for (const { key, state } of keys) {
    if (state !== 'signing') continue;
    metrics.set('keyAge', (life.clock.now() - key.signsFrom) / 1000, algLabel(key.alg));
  }
}
