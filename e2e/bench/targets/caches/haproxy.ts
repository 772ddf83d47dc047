/** @needs haproxy */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../parts/free-port.ts';
import { type Server, startServer } from '../../cpu.ts';
import type { CachePeer } from './cache-peer.ts';

/** Debian's HAProxy on one thread, which stores answers in memory only. */
export async function startHaproxyCache({ upstream, folder }: CachePeer): Promise<Server> {
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  await writeFile(
    file,
    `
global
  nbthread 1
  log stderr format raw local0
defaults
  mode http
  log global
  option httplog
  timeout client 60s
  timeout connect 10s
  timeout server 60s
cache kept
  total-max-size 256
  max-object-size 1048576
  max-age 86400
  process-vary on
frontend gateway
  bind 127.0.0.1:${port}
  http-request cache-use kept
  http-response cache-store kept
  default_backend application
backend application
  http-reuse always
  server application ${new URL(upstream).host}
`,
  );
  const { PATH } = process.env;
  return startServer('haproxy', ['-db', '-f', file], {
    env: { PATH: `${PATH}:/usr/sbin` },
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'haproxy.log'),
  });
}
