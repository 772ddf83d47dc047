import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Server } from '../../cpu.ts';
import { startApache } from '../apache.ts';
import { openFolder } from '../open-folder.ts';
import type { CachePeer } from './cache-peer.ts';

/** Debian's Apache in one process with mod_cache, which stores answers in files (mod_cache_disk). */
export async function startApacheCache({ upstream, folder }: CachePeer): Promise<Server> {
  await mkdir(join(folder, 'documents')); // there are no documents, but Apache needs the folder
  await openFolder(folder, 'kept'); // Apache gives up root
  return startApache({
    folder,
    modules: ['proxy', 'proxy_http', 'cache', 'cache_disk'],
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
CacheEnable disk /
CacheRoot ${folder}/kept
CacheDirLevels 5
CacheDirLength 3`,
  });
}
