import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../parts/free-port.ts';
import { type Server, startServer } from '../cpu.ts';
import { startApache } from './apache.ts';
import { openFolder } from './open-folder.ts';

/**
 * Debian's reverse proxies, each in one process: all pass requests and WebSockets on to `upstream`, keep connections,
 * write a line.
 */
export interface GatewayPeer {
  /** Origin. */
  readonly upstream: string;
  /** Takes its configuration and its logs. */
  readonly folder: string;
}

export type GatewayPeerName = 'nginx' | 'HAProxy' | 'Apache';

/** Starts them; the stack ends them. */
export async function startGatewayPeers(
  stack: AsyncDisposableStack,
  peer: GatewayPeer,
): Promise<Readonly<Record<GatewayPeerName, Server>>> {
  return {
    nginx: stack.use(await startNginxGateway(peer)),
    HAProxy: stack.use(await startHaproxyGateway(peer)),
    Apache: stack.use(await startApacheGateway(peer)),
  };
}

async function startNginxGateway({ upstream, folder }: GatewayPeer): Promise<Server> {
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

async function startHaproxyGateway({ upstream, folder }: GatewayPeer): Promise<Server> {
  const port = await freePort();
  const file = join(folder, 'haproxy-gateway.cfg');
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
  option forwardfor
  timeout client 60s
  timeout connect 10s
  timeout server 60s
frontend gateway
  bind 127.0.0.1:${port}
  default_backend application
backend application
  http-reuse always
  http-request set-header X-Forwarded-Proto http
  server application ${new URL(upstream).host}
`,
  );
  const { PATH } = process.env;
  return startServer('haproxy', ['-db', '-f', file], {
    env: { PATH: `${PATH}:/usr/sbin` },
    url: `http://127.0.0.1:${port}`,
    log: join(folder, 'haproxy-gateway.log'),
  });
}

async function startApacheGateway({ upstream, folder }: GatewayPeer): Promise<Server> {
  const own = await openFolder(folder, 'apache-gateway');
  await mkdir(join(own, 'documents')); // it has none, and insists on the folder
  return startApache({
    folder: own,
    modules: ['proxy', 'proxy_http'],
    configuration: `
ProxyPass / ${upstream}/ upgrade=websocket
ProxyPassReverse / ${upstream}/`,
  });
}
