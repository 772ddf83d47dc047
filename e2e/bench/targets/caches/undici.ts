import { join } from 'node:path';
import { freePort } from '../../../parts/free-port.ts';
import { type Server, startServer } from '../../cpu.ts';
import type { CachePeer } from './cache-peer.ts';

/** undici's client cache in a minimal proxy. */
export async function startUndiciCache({ upstream, folder }: CachePeer): Promise<Server> {
  const port = await freePort();
  const entry = new URL('undici-proxy.ts', import.meta.url).pathname;
  return startServer(process.execPath, [entry, `${port}`, upstream], {
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'stderr.log'),
  });
}
