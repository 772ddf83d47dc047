import { once } from 'node:events';
import http2 from 'node:http2';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { jsonLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { HttpError } from '#shared/http/answer.ts';
import { send } from '../message/answer.ts';
import { frontDoor, openTarget } from './front-door.ts';
import { listen, type Listening } from '../listen/listen.ts';
import type { AnyHandler, AnyRequest } from '../message/message.ts';
import { misdirection } from './misdirected.ts';
import { logged } from '../message/request-log.ts';
import { selfSigned } from '../listen/self-signed.ts';

const trusted = trustedProxies(['10.0.0.0/8']);
const refuseMisdirected = misdirection(
  ['https://auth.example', 'https://tokens.example:8443', undefined],
  trusted,
);

interface Sent {
  readonly host?: string;
  readonly url?: string;
  readonly tls?: boolean;
  readonly peer?: string;
  readonly local?: string;
}

/** Returns the status that the request gets. */
function statusOf({ host, url = '/', tls, peer, local }: Sent): number {
  const socket = Object.create((tls ? TLSSocket : Socket).prototype, {
    remoteAddress: { value: peer ?? '203.0.113.9' },
    localAddress: { value: local ?? '192.0.2.1' },
    localPort: { value: 3000 },
  });
  const request = { url, headers: { ...(host !== undefined && { host }) }, socket };
  try {
    refuseMisdirected(request as AnyRequest, url.replace(/^https?:\/\/[^/]*/, '') || '/');
    return 200;
  } catch (error) {
    return error instanceof HttpError ? error.status : 500;
  }
}

describe.each([true, false])('RFC 9110 section 7.4: the authority, TLS %s', (tls) => {
  test.each([
    'auth.example',
    'AUTH.example',
    'auth.example:443',
    'auth.example:',
    'tokens.example:8443',
    '192.0.2.1:3000',
    '',
    undefined,
  ])('the authority %s is accepted', (host) => {
    expect(statusOf({ host, tls } as Sent)).toBe(200);
  });

  test.each([
    'other.example',
    'auth.example.evil.example',
    'evil-auth.example',
    'auth.example:8443',
    'tokens.example',
    '192.0.2.1',
    '192.0.2.1:3001',
    '192.0.2.2:3000',
    'localhost:3000',
    '127.0.0.1:3000',
  ])('the authority %s is refused', (host) => {
    expect(statusOf({ host, tls })).toBe(421);
    expect(statusOf({ host: 'auth.example', url: `http://${host}/`, tls })).toBe(421);
  });

  test('RFC 9112 section 3.2.2: the target takes precedence over Host', () => {
    expect(statusOf({ host: 'other.example', url: 'http://auth.example/', tls })).toBe(200);
  });

  test('a listener on all addresses accepts the address that the client connected to', () => {
    const dialled = (local: string, host: string) => statusOf({ local, host, tls });
    expect(dialled('::ffff:192.0.2.7', '192.0.2.7:3000')).toBe(200);
    expect(dialled('2001:db8::7', '[2001:db8::7]:3000')).toBe(200);
    expect(dialled('2001:db8::7', '[2001:db8::8]:3000')).toBe(421);
    expect(dialled('127.0.0.1', 'localhost:3000')).toBe(200);
    expect(dialled('::1', 'localhost:3000')).toBe(200);
    expect(dialled('127.0.0.1', 'localhost:3001')).toBe(421);
  });

  test.each(['/jwks', '/.well-known/openid-configuration', '/.well-known/'])(
    '%s is served under any name',
    (url) => {
      expect(statusOf({ host: 'other.example', url, tls })).toBe(200);
      expect(statusOf({ host: 'other.example', url: `http://other.example${url}`, tls })).toBe(200);
    },
  );

  test.each(['/jwks/', '/token', '/well-known/x'])('%s is served only under our names', (url) => {
    expect(statusOf({ host: 'other.example', url, tls })).toBe(421);
  });

  test('a trusted proxy may send any name', () => {
    expect(statusOf({ host: 'authz-1:3000', peer: '10.0.0.7', tls })).toBe(200);
    expect(statusOf({ host: 'authz-1:3000', peer: '::ffff:10.0.0.7', tls })).toBe(200);
    expect(statusOf({ host: 'authz-1:3000', peer: '11.0.0.7', tls })).toBe(421);
  });
});

describe.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])('from %s', (peer) => {
  const local = peer;

  test.each(
    [
      ['localhost', 'LOCALHOST:8080', 'app.localhost', 'localhost.:8080'],
      ['127.0.0.1', '127.0.0.2:8080', '[::1]', '[::1]:8080'],
    ].flat(),
  )('loopback names with another port are accepted only in clear text: %s', (host) => {
    expect(statusOf({ host, peer, local })).toBe(200);
    expect(statusOf({ host, peer, local, tls: true })).toBe(421);
  });

  test.each(
    [
      ['evil.example', 'evil.example:3000', 'upstream', 'localhost.evil.example', 'evillocalhost'],
      ['127.0.0.1.evil.example:3000', '127.evil.example', '[::2]:3000', '192.0.2.9:3000'],
      [
        'localhost:3000@evil.example',
        'evil.example#localhost',
        '[::1',
        'localhost:x',
        ':3000',
        'evil#x.localhost',
      ],
    ].flat(),
  )('DNS rebinding: a foreign name that points to this machine is refused: %s', (host) => {
    expect(statusOf({ host, peer, local })).toBe(421);
    expect(statusOf({ host: 'localhost', url: `http://${host}/`, peer, local })).toBe(421);
  });

  test('our names and the address of the listener are accepted', () => {
    for (const host of ['auth.example', 'tokens.example:8443', undefined]) {
      expect(statusOf({ ...(host !== undefined && { host }), peer })).toBe(200);
    }
    expect(statusOf({ host: '192.0.2.1:3000', peer, local: '192.0.2.1' })).toBe(200);
  });
});

describe('RFC 9110 section 7.4: an https resource over clear text', () => {
  const url = 'https://auth.example/';

  test('an https resource over clear text is refused, also from this machine', () => {
    expect(statusOf({ host: 'auth.example', url })).toBe(421);
    expect(statusOf({ host: 'auth.example', url: 'HTTPS://auth.example/' })).toBe(421);
    expect(statusOf({ host: 'auth.example', url, peer: '127.0.0.1' })).toBe(421);
  });

  test('an https resource is served over TLS, and to a trusted proxy that terminates TLS', () => {
    expect(statusOf({ host: 'auth.example', url, tls: true })).toBe(200);
    expect(statusOf({ host: 'auth.example', url, peer: '10.0.0.1' })).toBe(200);
  });
});

describe('on real listeners', () => {
  let clear: Listening;
  let tls: Listening;
  const lines: string[] = [];
  const { key, cert } = selfSigned(['localhost'], systemClock, systemRandom);

  beforeAll(async () => {
    const log = jsonLog((line) => lines.push(line), systemClock, 'test');
    const door: AnyHandler = frontDoor<AnyRequest, Parameters<AnyHandler>[1]>(
      async ({ request, response }) => send(request, response, { status: 200, fields: {} }),
      { open: openTarget, refuseMisdirected, fields: () => ({}), log },
    );
    const handler = logged(door, { log, clock: systemClock, random: systemRandom, trusted });
    const common = { host: '127.0.0.1', port: 0, handler, log };
    clear = await listen({ ...common, http2: { handler } });
    tls = await listen({ ...common, http2: { handler, certificate: { key, cert } } });
  });
  afterAll(async () => {
    await clear.close(0);
    await tls.close(0);
  });

  async function answerOf(request: http.ClientRequest): Promise<[number | undefined, string]> {
    const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
    return [response.statusCode, await text(response)];
  }
  const overTls = (host: string, path = '/') =>
    answerOf(
      https.request({
        host: '127.0.0.1',
        servername: 'localhost',
        port: tls.port,
        ca: cert,
        path,
        headers: { host },
      }),
    );
  async function status2(origin: string, headers: http2.OutgoingHttpHeaders): Promise<unknown> {
    const client = http2.connect(origin, { ca: cert });
    const request = client.request({ ':path': '/', ...headers });
    const [answer] = (await once(request, 'response')) as [http2.IncomingHttpHeaders];
    client.destroy();
    return answer[':status'];
  }

  test('HTTP/1.1 over TLS: a 421 names the reason, and the log says what to do', async () => {
    const [status, body] = await overTls('other.example');
    expect(status).toBe(421);
    expect(JSON.parse(body)).toMatchObject({
      title: 'Misdirected Request',
      detail:
        'This server does not answer for other.example. Use a URL of its own, and let a proxy pass on Host.',
    });
    const reason = 'let a proxy pass on Host.: 127.0.0.1 is not in trustedProxies';
    while (!lines.join('').includes(reason)) await turn();
    expect(body).not.toContain('trustedProxies');
  });

  test('HTTP/1.1 over TLS: our own names are served, and health under any name', async () => {
    expect((await overTls('auth.example'))[0]).toBe(200);
    expect((await overTls(`localhost:${tls.port}`))[0]).toBe(200);
    expect((await overTls('other.example', '/health/ready'))[0]).toBe(200);
  });

  test('DNS rebinding is refused with and without HTTP/2', async () => {
    const named = { host: '127.0.0.1', port: clear.port, headers: { host: 'evil.example' } };
    expect((await answerOf(http.request(named)))[0]).toBe(421);
    const plain = `http://127.0.0.1:${clear.port}`;
    expect(await status2(plain, { ':authority': 'evil.example' })).toBe(421);
    expect(await status2(plain, { ':authority': 'auth.example' })).toBe(200);
  });

  test('HTTP/2 over TLS and in clear text follows the same rules', async () => {
    const secure = `https://localhost:${tls.port}`;
    expect(await status2(secure, {})).toBe(200);
    expect(await status2(secure, { ':authority': 'auth.example' })).toBe(200);
    expect(await status2(secure, { ':authority': 'other.example' })).toBe(421);
    const plain = `http://127.0.0.1:${clear.port}`;
    expect(await status2(plain, {})).toBe(200);
    expect(await status2(plain, { ':scheme': 'https' })).toBe(421);
  });

  test('an https target in clear text is refused', async () => {
    const ask = (path: string) =>
      answerOf(http.request({ host: '127.0.0.1', port: clear.port, path }));
    expect((await ask(`https://localhost:${tls.port}/documents/`))[0]).toBe(421);
    expect((await ask(`http://localhost:${clear.port}/documents/`))[0]).toBe(200);
  });
});
