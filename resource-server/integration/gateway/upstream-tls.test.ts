import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';
import { startGateway } from '../gateway.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-upstream-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * Returns the answers of a gateway to each kind of request, for an application at `host` with a certificate for `name`.
 */
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

// The certificate is verified against the URL (RFC 9110 section 4.3.4), while Host is for the application.
test.each([
  ['localhost', 'localhost', {}, 'localhost rs.example'],
  ['localhost', 'localhost', { host: 'upstream' }, 'localhost localhost'],
  ['localhost', 'inside.example', { tls: { name: 'inside.example' } }, 'inside.example rs.example'],
  ['127.0.0.1', '127.0.0.1', {}, 'false rs.example'],
])(
  'an application at %s with a certificate for %s is accepted %j',
  async (host, name, more, expected) => {
    expect(await answers(host, name, more)).toEqual([expected, expected]);
  },
);

test.each([
  ['localhost', 'rs.example', {}],
  ['127.0.0.1', 'rs.example', {}],
  ['localhost', 'localhost', { tls: { name: 'inside.example' } }],
  ['localhost', 'rs.example', { tls: { name: 'inside.example' } }],
])('an application at %s with a certificate for %s is refused %j', async (host, name, more) => {
  expect(await answers(host, name, more)).toEqual([502, 502]);
});

/** Asks an application that supports HTTP/2. Its trailers name the version of the request. */
async function trailersOf(version: string, asking: Readonly<Record<string, string>>) {
  const { key, cert } = selfSigned(['localhost'], systemClock, systemRandom);
  const ca = join(folder, 'http2.pem');
  writeFileSync(ca, cert);
  const server = http2.createSecureServer({ key, cert, allowHTTP1: true });
  server.on('request', (request, response) => {
    if (request.url === '/length') response.setHeader('Content-Length', 4);
    response.setHeader('Trailer', 'X-Version');
    response.write('over');
    response.addTrailers({ 'X-Version': request.httpVersion });
    response.end();
  });
  await once(server.listen(0, 'localhost'), 'listening');
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  const upstream = { url, tls: { ca, http2: true } };
  await using gateway = await startGateway({ shop: { upstream, schemes: [], scopes: {} } });
  const { port } = gateway.listening;
  const heard = await HEARD[version]?.(port, asking);
  server.close();
  return heard;
}

type Heard = readonly [content: string, version: unknown];

const HEARD: Readonly<
  Record<string, (port: number, asking: Readonly<Record<string, string>>) => Promise<Heard>>
> = {
  async 'HTTP/1.1'(port, { path, ...headers }) {
    const request = http.get({ port, path, headers });
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    return [await textOf(answer), answer.trailers['x-version']];
  },
  async 'HTTP/2'(port, { path, ...fields }) {
    const session = http2.connect(`http://127.0.0.1:${port}`);
    const stream = session.request({ ':path': path, ...fields });
    let trailers: http2.IncomingHttpHeaders = {};
    stream.once('trailers', (given) => (trailers = given));
    const content = await textOf(stream);
    session.destroy();
    return [content, trailers['x-version']];
  },
};

describe('RFC 9110 section 6.5: trailers of an application over HTTP/2', () => {
  test.each([
    ['HTTP/1.1', {}, '2.0'],
    ['HTTP/2', {}, '2.0'],
    // Only node:http announces that it reads trailers, and only over HTTP/1.1.
    ['HTTP/1.1', { TE: 'trailers' }, '1.1'],
    ['HTTP/2', { te: 'trailers' }, '1.1'],
  ])('a client of %s with %j gets the trailers', async (version, fields, by) => {
    expect(await trailersOf(version, { path: '/shop/x', ...fields })).toEqual(['over', by]);
  });

  test.each([
    ['HTTP/1.1', undefined], // an HTTP/1.1 message with a length has no trailers (RFC 9112 section 6.3)
    ['HTTP/2', '2.0'],
  ])('trailers after content with a length, for a client of %s', async (version, by) => {
    expect(await trailersOf(version, { path: '/shop/length' })).toEqual(['over', by]);
  });
});
