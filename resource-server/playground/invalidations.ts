import type { Clock } from '#shared/base/clock.ts';
import {
  checkLengths,
  type InvalidationListener,
  type Invalidations,
} from '#shared/stores/cache/invalidations.ts';

/**
 * The invalidations of the playground's caches. Only this process has these caches, so the invalidations stay in
 * memory. In the store, bans of visitors would displace those of operators in `cache bans`.
 */
export function playgroundInvalidations(clock: Clock): Pick<Invalidations, 'add' | 'feed'> {
  const listeners = new Set<InvalidationListener>();
  return {
    async add(invalidations) {
      checkLengths(invalidations);
      const at = clock.now();
      for (const listener of listeners) {
        for (const one of invalidations) listener.apply({ ...one, at, position: '' });
      }
    },
    async feed(listener) {
      listeners.add(listener);
      return {
        position: '',
        latest() {},
        async [Symbol.asyncDispose]() {
          listeners.delete(listener);
        },
      };
    },
  };
}
