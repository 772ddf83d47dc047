import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type RunningProcess, startProcess } from '../../parts/process.ts';
import { rawHttp } from '../../parts/raw-http.ts';

export interface NginxFront {
  /** Takes its configuration and what it writes. */
  readonly folder: string;
  /** Origin that it listens at. */
  readonly origin: string;
  /** Origin that requests go on to. */
  readonly upstream: string;
}

/** Debian's nginx in front of us, as one process: it says who asks, and keeps its connections. */
export async function startNginxFront(front: NginxFront): Promise<RunningProcess> {
  const { folder, origin } = front;
  const file = join(folder, 'nginx.conf');
  await writeFile(file, configuration(front));
  return startProcess('/usr/sbin/nginx', ['-p', folder, '-c', file], {
    ready: async () => (await rawHttp(origin, 'GET /\r\n\r\n')).length > 0,
  });
}

function configuration({ folder, origin, upstream }: NginxFront): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n  ');
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  ${temporary}
  access_log off;
  upstream countersign {
    server ${new URL(upstream).host};
    keepalive 8;
  }
  server {
    listen ${new URL(origin).host};
    client_max_body_size 0;
    location / {
      proxy_pass http://countersign;
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_buffering off;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header Forwarded "";
    }
  }
}
`;
}
