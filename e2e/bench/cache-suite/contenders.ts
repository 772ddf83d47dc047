import { ORIGIN } from '../site.ts';
import { startApacheCache } from '../targets/caches/apache.ts';
import type { CachePeer } from '../targets/caches/cache-peer.ts';
import { startHaproxyCache } from '../targets/caches/haproxy.ts';
import { startNginxCache } from '../targets/caches/nginx.ts';
import { startSquidCache } from '../targets/caches/squid.ts';
import { startUndiciCache } from '../targets/caches/undici.ts';
import { startVarnish } from '../targets/caches/varnish.ts';
import { startCountersign } from '../targets/countersign.ts';

/** The URL at a cache that leads to the origin's paths. */
interface Before extends AsyncDisposable {
  readonly url: string;
}

type Start = (peer: CachePeer) => Promise<Before>;

/** The usual methods, and the suite's unknown method. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'M-SEARCH'];
/** The same prefix on both sides, so that the suite's own URLs need no mapping. */
const PREFIX = '/suite';

async function startOurs({ upstream }: CachePeer): Promise<Before> {
  const space = {
    url: `${ORIGIN}${PREFIX}/`,
    realm: 'suite',
    schemes: [],
    serves: 'upstream',
    upstream: { url: `${upstream}${PREFIX}/` },
    methods: METHODS,
    cache: { heuristic: true },
  };
  const servers = await startCountersign({ resource: ORIGIN, spaces: [space] });
  return {
    url: `${servers.resource.url}${PREFIX}`,
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}

/** No cache in between: it shows how many tests pass by themselves. */
const startNone: Start = async ({ upstream }) => ({
  url: upstream,
  [Symbol.asyncDispose]: async () => {},
});

/** The caches by their names in the table. */
export const CONTENDERS: Readonly<Record<string, Start>> = {
  ours: startOurs,
  Apache: startApacheCache,
  undici: startUndiciCache,
  Squid: startSquidCache,
  Varnish: startVarnish,
  nginx: startNginxCache,
  HAProxy: startHaproxyCache,
  'no cache': startNone,
};
