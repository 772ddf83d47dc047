import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../parts/free-port.ts';
import { startServer } from '../cpu.ts';
import type { Server } from '../cpu.ts';

export interface NginxOptions {
  readonly key: string;
  /** What `/small` answers. */
  readonly body: string;
  /** Takes its configuration, its document and its logs. */
  readonly folder: string;
}

/** Debian's nginx in one process: a static file for who sends a key that its map has, 401 for others. */
export async function startNginx({ key, body, folder }: NginxOptions): Promise<Server> {
  const port = await freePort();
  await mkdir(join(folder, 'documents'));
  await writeFile(join(folder, 'documents', 'small'), body);
  const file = join(folder, 'nginx.conf');
  await writeFile(file, configuration(folder, port, key));
  return startServer('/usr/sbin/nginx', ['-e', join(folder, 'nginx.log'), '-c', file], {
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'nginx.stderr'),
  });
}

function configuration(folder: string, port: number, key: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/temporary;`)
    .join('\n  ');
  return `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
events { worker_connections 256; }
http {
  ${temporary}
  access_log ${folder}/access.log;
  default_type text/plain;
  keepalive_requests 10000;
  map_hash_bucket_size 256;
  map $http_x_api_key $application {
    default "";
    "${key}" bench;
  }
  server {
    listen 127.0.0.1:${port};
    root ${folder}/documents;
    location / {
      if ($application = "") { return 401; }
    }
  }
}
`;
}
