import { temporaryFolder } from '../parts/temporary-folder.ts';
import type { Server } from './cpu.ts';
import { bearer, type Fields, ORIGIN } from './site.ts';
import { startCachedFiles } from './targets/cached-files.ts';
import { startHaproxyCache } from './targets/caches/haproxy.ts';
import { startNginxCache } from './targets/caches/nginx.ts';
import { startLoggingVarnish } from './targets/caches/varnish.ts';
import { startCountersign } from './targets/countersign.ts';
import { openFolder } from './targets/open-folder.ts';
import { mintTokens } from './tokens.ts';

/** Our spaces: one without schemes, and one with a Bearer token that is already cached. */
export const SPACES = { open: '/open', guarded: '/guarded' } as const;

export type SpaceName = keyof typeof SPACES;

/** The other caches, by their names in the table. */
const PEERS = {
  HAProxy: startHaproxyCache,
  nginx: startNginxCache,
  Varnish: startLoggingVarnish,
} as const;

export type CachePeerName = keyof typeof PEERS;

/** All caches store the answers of the same origin. */
export interface CacheTargets {
  readonly peers: Readonly<Record<CachePeerName, Server>>;
  readonly ours: Server;
  /** Credentials for the guarded space. */
  readonly credentials: Fields;
}

const SCOPE = 'documents:read';

/** Starts all caches; the stack ends them. */
export async function startCacheTargets(stack: AsyncDisposableStack): Promise<CacheTargets> {
  const { path: parent } = stack.use(await temporaryFolder());
  const { url: upstream } = stack.use(await startCachedFiles(parent));
  const started = async (name: CachePeerName) =>
    stack.use(await PEERS[name]({ upstream, folder: await openFolder(parent, name) }));
  return {
    peers: {
      HAProxy: await started('HAProxy'),
      nginx: await started('nginx'),
      Varnish: await started('Varnish'),
    },
    ...(await startOurs(stack, upstream)),
  };
}

const MIB = 1024 ** 2;

async function startOurs(
  stack: AsyncDisposableStack,
  upstream: string,
): Promise<Pick<CacheTargets, 'ours' | 'credentials'>> {
  const space = (name: SpaceName, members: object) => ({
    url: `${ORIGIN}${SPACES[name]}/`,
    realm: name,
    serves: 'upstream',
    upstream: { url: `${upstream}/` },
    cache: { maxBytes: 256 * MIB },
    ...members,
  });
  const scopes = { safe: [SCOPE], unsafe: [SCOPE] };
  const spaces = [
    space('open', { schemes: [] }),
    space('guarded', { schemes: ['Bearer'], scopes }),
  ];
  const { pair, authz, resource } = stack.use(await startCountersign({ resource: ORIGIN, spaces }));
  const client = await pair.addClient(SCOPE);
  const audience = `${ORIGIN}${SPACES.guarded}/`;
  const grant = { issuer: authz.url, client, scope: SCOPE, resource: audience };
  const [token = ''] = await mintTokens(grant, 1);
  return { ours: resource, credentials: bearer(token) };
}
