/** @needs haproxy */
/**
 * WebSockets behind proxies that write `ws` and `wss` into X-Forwarded-Proto, as Traefik does. Debian has no Traefik, so
 * nginx asks `/verify`, HAProxy is in front of the gateway, and both write the fields that Traefik writes.
 */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { startPair } from '../pair/pair.ts';
import { startApplication } from '../parts/application.ts';
import { freePort } from '../parts/free-port.ts';
import { startNginx as runNginx } from '../parts/nginx.ts';
import { startProcess } from '../parts/process.ts';
import { rawHttp } from '../parts/raw-http.ts';
import { basic } from './gateway/gateway-site.ts';
import { ALICE } from './site.ts';

const parts = new AsyncDisposableStack();
/** The public origins, which only the Host field names. */
const PUBLIC = { nginx: 'https://127.0.0.1:8443', haproxy: 'https://localhost:8444' };
type Front = keyof typeof PUBLIC;
const ports = new Map<Front, number>();

beforeAll(async () => {
  const { url } = await startApplication(parts, 'ws');
  const pair = parts.use(
    await startPair({
      settings: {
        resource: PUBLIC.haproxy,
        trustedProxies: ['127.0.0.1/32'],
        spaces: [
          { url: `${PUBLIC.haproxy}/`, realm: 'gateway', serves: 'upstream', upstream: { url } },
          { url: `${PUBLIC.nginx}/`, realm: 'verify', serves: 'verify' },
        ].map((space) => Object.assign(space, { schemes: ['Basic'] })),
      },
    }),
  );
  await pair.addPerson(ALICE.name, ALICE.password);
  const to = {
    folder: pair.data,
    resource: new URL(pair.resource).host,
    application: new URL(url).host,
  };
  for (const [name, start] of Object.entries({ nginx: startNginx, haproxy: startHaproxy })) {
    const port = await freePort();
    parts.use(await start({ ...to, port }));
    ports.set(name as Front, port);
  }
});
afterAll(() => parts.disposeAsync());

interface Places {
  readonly folder: string;
  readonly port: number;
  readonly resource: string;
  readonly application: string;
}

const answers = (port: number) => async () =>
  (await rawHttp(`http://127.0.0.1:${port}`, 'GET /\r\n\r\n')).length > 0;

const startNginx = ({ folder, port, resource, application }: Places) =>
  runNginx({
    folder,
    origin: `http://127.0.0.1:${port}`,
    http: `  map $http_upgrade $scheme_of_request { default wss; '' https; }
  server {
    listen 127.0.0.1:${port};
    location / {
      auth_request /.verify;
      proxy_pass http://${application};
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection "upgrade";
    }
    location = /.verify {
      internal;
      proxy_pass http://${resource}/verify;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Method $request_method;
      proxy_set_header X-Forwarded-Proto $scheme_of_request;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Port 443;
      proxy_set_header X-Forwarded-Server proxy;
      proxy_set_header X-Forwarded-Uri $request_uri;
    }
  }`,
  });

async function startHaproxy({ folder, port, resource }: Places) {
  const file = join(folder, 'haproxy.cfg');
  await writeFile(
    file,
    `defaults
  mode http
  timeout connect 1m
  timeout client 1m
  timeout server 1m
frontend front
  bind 127.0.0.1:${port}
  http-request set-header X-Forwarded-For %[src]
  http-request set-header X-Forwarded-Host %[req.hdr(host)]
  http-request set-header X-Forwarded-Port 443
  http-request set-header X-Forwarded-Server proxy
  http-request set-header X-Real-Ip %[src]
  http-request set-header X-Forwarded-Proto https
  http-request set-header X-Forwarded-Proto wss if { req.hdr(upgrade) -m found }
  default_backend countersign
backend countersign
  server one ${resource}
`,
  );
  return startProcess('/usr/sbin/haproxy', ['-db', '-f', file], { ready: answers(port) });
}

const open = (front: Front, headers: Record<string, string> = {}) =>
  new WebSocket(`ws://127.0.0.1:${ports.get(front)}/base/chat?room=1`, {
    headers: { Host: new URL(PUBLIC[front]).host, ...headers },
  });

test.each(Object.keys(PUBLIC) as Front[])(
  'a WebSocket behind %s opens with credentials, and not without',
  async (front) => {
    const socket = open(front, Object.fromEntries([basic()]));
    await once(socket, 'message');
    socket.send('hello');
    expect(String((await once(socket, 'message'))[0])).toBe('hello');
    socket.close();
    await once(socket, 'close');

    const [error] = (await once(open(front), 'error')) as [Error];
    expect(error.message).toContain('401');
  },
);
