import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Server } from '../../cpu.ts';
import { startApache } from '../apache.ts';
import { openFolder } from '../open-folder.ts';
import type { CachePeer } from './cache-peer.ts';

/** Debian's Apache in one process with mod_cache: in shared memory (mod_cache_socache) or in files (mod_cache_disk). */
export async function startApacheCache({ upstream, folder, keeps }: CachePeer): Promise<Server> {
  await mkdir(join(folder, 'documents')); // it has none, and insists on the folder
  await openFolder(folder, 'kept'); // it gives up root
  const [modules, place] = placesIn(folder)[keeps];
  return startApache({
    folder,
    modules: ['proxy', 'proxy_http', 'cache', ...modules],
    configuration: `
ProxyPass / ${upstream}/
ProxyPassReverse / ${upstream}/
UseCanonicalName On
CacheQuickHandler On
CacheDefaultExpire 0
CacheIgnoreNoLastMod On
CacheStoreExpired On
CacheHeader On
CacheDetailHeader On
${place}`,
  });
}

const placesIn = (folder: string) =>
  ({
    'in memory': [
      ['cache_socache', 'socache_shmcb'],
      `
CacheEnable socache /
CacheSocache shmcb:${folder}/kept/answers(268435456)
CacheSocacheMaxSize 1048576`,
    ],
    'on disk': [
      ['cache_disk'],
      `
CacheEnable disk /
CacheRoot ${folder}/kept
CacheDirLevels 5
CacheDirLength 3`,
    ],
  }) as const;
