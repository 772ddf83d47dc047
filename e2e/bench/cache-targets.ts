import { temporaryFolder } from '../parts/temporary-folder.ts';
import type { Server } from './cpu.ts';
import { bearer, type Fields, ORIGIN } from './site.ts';
import { startCachedFiles } from './targets/cached-files.ts';
import { startApacheCache } from './targets/caches/apache.ts';
import type { CachePeer } from './targets/caches/cache-peer.ts';
import { startHaproxyCache } from './targets/caches/haproxy.ts';
import { startNginxCache } from './targets/caches/nginx.ts';
import { startSquidCache } from './targets/caches/squid.ts';
import { startLoggingVarnish, startVarnish, VALIDATING } from './targets/caches/varnish.ts';
import { startCountersign } from './targets/countersign.ts';
import { openFolder } from './targets/open-folder.ts';
import { mintTokens } from './tokens.ts';

/** Where it keeps answers, with which program. */
type Start = readonly [(peer: CachePeer) => Promise<Server>, CachePeer['keeps']];

const PEERS = {
  Varnish: [startLoggingVarnish, 'in memory'],
  'Varnish, no log file': [startVarnish, 'in memory'],
  'Varnish, file': [startLoggingVarnish, 'on disk'],
  'Varnish, validating': [(peer) => startLoggingVarnish(peer, VALIDATING), 'in memory'],
  Squid: [startSquidCache, 'in memory'],
  'Squid, ufs': [startSquidCache, 'on disk'],
  HAProxy: [startHaproxyCache, 'in memory'],
  'Apache, socache': [startApacheCache, 'in memory'],
  'Apache, disk': [startApacheCache, 'on disk'],
  nginx: [startNginxCache, 'on disk'],
} as const satisfies Readonly<Record<string, Start>>;

export type PeerName = keyof typeof PEERS;

/** Ours by its spaces: without schemes, with a Bearer token that was seen before, and with long answers on disk. */
export const SPACES = { open: '/open', guarded: '/guarded', disk: '/disk' } as const;

export type SpaceName = keyof typeof SPACES;

/** All keep the answers of the same origin. */
export interface CacheTargets {
  readonly peers: Readonly<Record<PeerName, Server>>;
  readonly ours: Server;
  /** Credentials of the space that is guarded. */
  readonly credentials: Fields;
}

const SCOPE = 'documents:read';

/** Starts the peers of those names, and ours; the stack ends them. */
export async function startCacheTargets(stack: AsyncDisposableStack): Promise<CacheTargets> {
  const { path: parent } = stack.use(await temporaryFolder());
  const { url: upstream } = stack.use(await startCachedFiles(parent));
  const peers: [string, Server][] = [];
  for (const [name, [start, keeps]] of Object.entries<Start>(PEERS)) {
    const folder = await openFolder(parent, name.replaceAll(/\W+/g, '-'));
    peers.push([name, stack.use(await start({ upstream, folder, keeps }))]);
  }
  return {
    peers: Object.fromEntries(peers) as CacheTargets['peers'],
    ...(await startOurs(stack, upstream)),
  };
}

const MIB = 1024 ** 2;

async function startOurs(
  stack: AsyncDisposableStack,
  upstream: string,
): Promise<Pick<CacheTargets, 'ours' | 'credentials'>> {
  const space = (name: SpaceName, cache: object, members: object = { schemes: [] }) => ({
    url: `${ORIGIN}${SPACES[name]}/`,
    realm: name,
    serves: 'upstream',
    upstream: { url: `${upstream}/` },
    cache,
    ...members,
  });
  const scopes = { safe: [SCOPE], unsafe: [SCOPE] };
  const spaces = [
    space('open', { maxBytes: 256 * MIB }),
    space('guarded', { maxBytes: 256 * MIB }, { schemes: ['Bearer'], scopes }),
    space('disk', { maxBytes: MIB, disk: { maxBytes: 1024 * MIB } }),
  ];
  const { pair, authz, resource } = stack.use(await startCountersign({ resource: ORIGIN, spaces }));
  const client = await pair.addClient(SCOPE);
  const audience = `${ORIGIN}${SPACES.guarded}/`;
  const grant = { issuer: authz.url, client, scope: SCOPE, resource: audience };
  const [token = ''] = await mintTokens(grant, 1);
  return { ours: resource, credentials: bearer(token) };
}
