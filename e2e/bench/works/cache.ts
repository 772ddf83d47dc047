import {
  type Asking,
  byOurs,
  byVarnish,
  hit,
  QUERY_HIT,
  SMALL_BY_POOL,
} from '../cache-contenders.ts';
import { type CacheTargets, type SpaceName, startCacheTargets } from '../cache-targets.ts';
import { type Loads, room, times } from '../work.ts';

const besideVarnish = (on: CacheTargets, space: SpaceName, asking: Asking): Loads => ({
  beside: byVarnish(on, asking),
  ways: { SQLite: byOurs(on, space, asking) },
});

const [SMALL, MEDIUM] = [hit('small'), hit('medium')];

/** The gateway's cache, beside Varnish, which gives no verdict and knows no QUERY. */
export const CACHE = room(startCacheTargets, [
  {
    name: 'Cache hit, 1 KiB',
    goal: times(1.3),
    loads: (on) => besideVarnish(on, 'open', SMALL),
  },
  {
    name: 'Cache hit, 1 KiB, Bearer seen',
    goal: times(2),
    loads: (on) => besideVarnish(on, 'guarded', SMALL),
  },
  {
    name: 'Cache hit, 100 KiB',
    goal: times(1.3),
    loads: (on) => besideVarnish(on, 'open', MEDIUM),
  },
  {
    name: 'Cache hit, QUERY',
    loads: (on) => ({
      beside: byVarnish(on, SMALL_BY_POOL),
      ways: { SQLite: byOurs(on, 'open', QUERY_HIT) },
    }),
  },
]);
