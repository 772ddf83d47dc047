import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { selfSigned } from '#shared/server/self-signed.ts';
import { startGateway } from './gateway.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-upstream-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a gateway before an application at `host`, with a certificate of `name`, answers in each way of sending. */
async function answers(host: string, name: string, more: { tls?: object; host?: string } = {}) {
  const { key, cert } = selfSigned([name], systemClock, systemRandom);
  const ca = join(folder, `${name}.pem`);
  writeFileSync(ca, cert);
  const server = https.createServer({ key, cert }, ({ socket, headers }, response) => {
    const asked = socket instanceof TLSSocket && socket.servername;
    response.end(`${String(asked)} ${headers.host?.split(':')[0]}`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `https://${host}:${(server.address() as AddressInfo).port}/`;
  const upstream = { url, ...more, tls: { ca, ...more.tls } };
  await using gateway = await startGateway({ shop: { upstream, schemes: [], scopes: {} } });
  const replies = [];
  for (const headers of [{}, { TE: 'trailers' }]) {
    const { status, text } = await gateway.ask('GET', '/shop/x', { headers });
    replies.push(status === 200 ? text : status);
  }
  server.closeAllConnections();
  server.close();
  return replies;
}

// RFC 9110 section 4.3.4; what is in Host is for the application.
test.each([
  ['localhost', 'localhost', {}, 'localhost rs.example'],
  ['localhost', 'localhost', { host: 'upstream' }, 'localhost localhost'],
  ['localhost', 'inside.example', { tls: { name: 'inside.example' } }, 'inside.example rs.example'],
  ['127.0.0.1', '127.0.0.1', {}, 'false rs.example'],
])('an application at %s proves to be %s %j', async (host, name, more, expected) => {
  expect(await answers(host, name, more)).toEqual([expected, expected]);
});

test.each([
  ['localhost', 'rs.example', {}],
  ['127.0.0.1', 'rs.example', {}],
  ['localhost', 'localhost', { tls: { name: 'inside.example' } }],
  ['localhost', 'rs.example', { tls: { name: 'inside.example' } }],
])('no application at %s is who proves to be %s %j', async (host, name, more) => {
  expect(await answers(host, name, more)).toEqual([502, 502]);
});
