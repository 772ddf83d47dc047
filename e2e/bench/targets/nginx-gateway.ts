/** @needs nginx */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../parts/free-port.ts';
import { type Server, startServer } from '../cpu.ts';

/**
 * Debian's nginx in one process, which forwards requests and WebSockets to this origin, keeps connections
 * and logs a line. `folder` gets its configuration and logs.
 */
export async function startNginxGateway(upstream: string, folder: string): Promise<Server> {
  const port = await freePort();
  const file = join(folder, 'nginx-gateway.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/temporary;`)
    .join('\n  ');
  await writeFile(
    file,
    `
daemon off;
master_process off;
pid ${folder}/nginx-gateway.pid;
events { worker_connections 1024; }
http {
  ${temporary}
  access_log ${folder}/nginx-gateway.access;
  keepalive_requests 1000000000;
  map $http_upgrade $connection_option {
    default Upgrade;
    "" "";
  }
  upstream application {
    server ${new URL(upstream).host};
    keepalive 64;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://application;
      proxy_http_version 1.1;
      proxy_max_temp_file_size 0;
      proxy_set_header Connection $connection_option;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}
`,
  );
  return startServer('/usr/sbin/nginx', ['-e', join(folder, 'nginx-gateway.log'), '-c', file], {
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'nginx-gateway.stderr'),
  });
}
