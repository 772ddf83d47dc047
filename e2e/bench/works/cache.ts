import { type Asking, byOurs, byPeer, hit, QUERY_HIT, SMALL_BY_POOL } from '../cache-contenders.ts';
import { type CacheTargets, type SpaceName, startCacheTargets } from '../cache-targets.ts';
import { type Loads, room, times } from '../work.ts';

const besideAll = (on: CacheTargets, space: SpaceName, asking: Asking): Loads => ({
  beside: [
    byPeer(on, 'HAProxy', asking),
    byPeer(on, 'nginx', asking),
    byPeer(on, 'Varnish', asking),
  ],
  ways: { SQLite: byOurs(on, space, asking) },
});

const [SMALL, MEDIUM] = [hit('small'), hit('medium')];

/**
 * The gateway's cache, beside HAProxy, nginx and Varnish, which check no tokens and do not support QUERY.
 */
export const CACHE = room(startCacheTargets, [
  {
    name: 'Cache hit, 1 KiB',
    goals: { HAProxy: times(3.3), nginx: times(3.3), Varnish: times(1.3) },
    loads: (on) => besideAll(on, 'open', SMALL),
  },
  {
    name: 'Cache hit, 1 KiB, Bearer seen',
    goals: { Varnish: times(2) },
    loads: (on) => besideAll(on, 'guarded', SMALL),
  },
  {
    name: 'Cache hit, 100 KiB',
    goals: { Varnish: times(1.3) },
    loads: (on) => besideAll(on, 'open', MEDIUM),
  },
  {
    name: 'Cache hit, QUERY',
    loads: (on) => ({
      beside: [byPeer(on, 'Varnish', SMALL_BY_POOL)],
      ways: { SQLite: byOurs(on, 'open', QUERY_HIT) },
    }),
  },
]);
