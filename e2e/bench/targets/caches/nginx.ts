/** @needs nginx */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../parts/free-port.ts';
import { type Server, startServer } from '../../cpu.ts';
import type { CachePeer } from './cache-peer.ts';

/** Debian's nginx in one process, which stores answers in files only. */
export async function startNginxCache({ upstream, folder }: CachePeer): Promise<Server> {
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  await writeFile(file, configuration(new URL(upstream).host, folder, port));
  return startServer('/usr/sbin/nginx', ['-e', join(folder, 'error.log'), '-c', file], {
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'stderr.log'),
  });
}

function configuration(upstream: string, folder: string, port: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/temporary;`)
    .join('\n  ');
  return `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
events { worker_connections 2048; }
http {
  ${temporary}
  access_log ${folder}/access.log;
  keepalive_requests 1000000000;
  proxy_cache_path ${folder}/kept levels=1:2 keys_zone=kept:8m max_size=1000m inactive=600m;
  upstream application {
    server ${upstream};
    keepalive 64;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://application;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_cache kept;
      proxy_cache_revalidate on;
    }
  }
}
`;
}
