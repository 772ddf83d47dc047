import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectTo, type Version, VERSIONS } from '../interop/gateway/client.ts';
import { basic, type GatewaySite, startGatewaySite } from '../interop/gateway/gateway-site.ts';
import {
  CONFUSED,
  INNER,
  OUTSIDE,
} from '../../resource-server/integration/confused-paths.fixture.ts';
import { rawHttp, statusOf } from '../parts/raw-http.ts';
import { type RawUpstream, startRawUpstream } from '../parts/raw-upstream.ts';

/**
 * Paths that the gateway and the application could read differently. Alice may enter the space but not the
 * space within it, and the application serves both.
 */
const parts = new AsyncDisposableStack();
let upstream: RawUpstream;
let elsewhere: RawUpstream;
let site: GatewaySite;
beforeAll(async () => {
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  upstream = parts.use(await startRawUpstream(({ socket }) => socket.write(ok)));
  elsewhere = parts.use(await startRawUpstream(({ socket }) => socket.write(ok)));
  const url = `${upstream.url}/base/`;
  site = parts.use(
    await startGatewaySite({
      app: { upstream: { url } },
      'app/admin': { schemes: ['Bearer'], upstream: { url: `${url}admin/` } },
      'app/%C3%A9tage': {
        realm: 'etage',
        schemes: ['Bearer'],
        upstream: { url: `${url}%C3%A9tage/` },
      },
    }),
  );
});
afterAll(async () => parts.disposeAsync());

/**
 * The path as the most careless server would read it: decoded repeatedly, in lower case, without parameters
 * and final dots.
 */
function careless(target: string): readonly string[] {
  let path = target.replace(/^https?:\/\/[^/]*/i, '').replace(/[?#].*$/s, '');
  for (let time = 0; time < 4; time += 1) {
    path = path.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  path = Buffer.from(path, 'latin1').toString().normalize('NFKC').toLowerCase();
  const found: string[] = [];
  path = path.replaceAll('\\', '/').replaceAll(/[;\0][^/]*/g, '');
  for (const part of path.split('/')) {
    const segment = /^[. ]+$/.test(part) ? part.trim() : part.replace(/[. ]+$/, '');
    if (segment === '..') found.pop();
    else if (segment !== '' && segment !== '.') found.push(segment);
  }
  return found;
}

test('the careless reading of the tests finds each hidden path', () => {
  for (const path of ['/base/x/..;/admin/', '/base/%252e%252e/base/ADMIN', '//base\\admin;a=b/x']) {
    expect(careless(path).slice(0, 2)).toEqual(['base', 'admin']);
  }
});

function expectWithin(): number {
  const came = upstream.take();
  expect(upstream.unreadable).toEqual([]);
  for (const { target } of came) {
    const [base, second] = careless(target);
    expect([target, base, second]).toEqual([
      target,
      'base',
      expect.not.stringMatching(/^(?:admin|étage)$/),
    ]);
  }
  return came.length;
}

describe('an unambiguous path arrives at the application unchanged', () => {
  test.each([
    ['/app/', '/base/'],
    ['/app', '/base/'],
    ['/app/x', '/base/x'],
    ['/app/x/', '/base/x/'],
    ['/app/x?a=/../admin/&b=%2e%2e', '/base/x?a=/../admin/&b=%2e%2e'],
    ['/app/x?', '/base/x?'],
    ['/app/a%20b/%C3%BC?%00', '/base/a%20b/%C3%BC?%00'],
    ['/app/administration', '/base/administration'],
    ['/app/x/admin/', '/base/x/admin/'],
    ["/app/a,b!$&'()*+=:@", "/base/a,b!$&'()*+=:@"],
  ])('the path %s arrives as %s', async (path, expected) => {
    await using client = connectTo(site.origin, 'HTTP/1.1');
    expect((await client.ask(path, { fields: [basic()] })).status).toBe(200);
    expect(upstream.take().map(({ target }) => target)).toEqual([expected]);
  });
});

describe.each(VERSIONS)('a path with several readings, over %s', (version: Version) => {
  test.each([...INNER, ...CONFUSED, ...OUTSIDE])(
    'is refused, or stays within the space: /app%s',
    async (path) => {
      await using client = connectTo(site.origin, version);
      const answer =
        version === 'HTTP/1.1'
          ? statusOf(await rawHttp(site.origin, requestLine(`/app${path}`)))
          : (await client.ask(`/app${path}`, { fields: [basic()] })).status;
      const came = expectWithin();
      // If the application got no request, the gateway has refused it.
      if (came === 0) expect([400, 401, 404]).toContain(answer);
      else expect([1, 200]).toEqual([came, answer]);
    },
  );
});

function requestLine(target: string): string {
  const fields = [`Host: ${new URL(site.origin).host}`, basic().join(': '), 'Connection: close'];
  return `GET ${target} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`;
}

describe("another spelling of the space's address", () => {
  test.each([
    '/APP/x',
    '/app%2Fx',
    '/appx',
    '/ap',
    '/app;x/y',
    '//app/x',
    '/./app/x',
    '/%2e/app/x',
    '/x/../app/x',
    '/app%20/x',
    '\\app\\x',
    '/%61pp%2fx',
  ])('%s is outside the space, or is served within it', async (path) => {
    const status = statusOf(await rawHttp(site.origin, requestLine(path)));
    const came = upstream.take().map(({ target }) => target);
    if (status === 200) expect(came).toEqual([expect.stringMatching(/^\/base\//)]);
    else expect([came, [400, 401, 404].includes(status)]).toEqual([[], true]);
  });
});

describe('the gateway always uses the configured upstream, even if a client names another one in', () => {
  const at = () => new URL(elsewhere.url).host;
  test.each<[string, () => string]>([
    ['Host', () => requestLine('/app/x').replace(/Host: .*/, `Host: ${at()}`)],
    ['absolute-form', () => requestLine(`http://${at()}/app/x`)],
    ['absolute-form with our Host', () => requestLine(`http://${at()}/base/x`)],
    ['absolute-form with userinfo', () => requestLine(`http://a@${at()}/app/x`)],
    ['absolute-form of another scheme', () => requestLine(`gopher://${at()}/app/x`)],
    ['two slashes', () => requestLine(`//${at()}/app/x`)],
    ['an at sign', () => requestLine(`/app/@${at()}/`)],
    ['an at sign before the path', () => requestLine(`/app@${at()}/`)],
    ['a colon and an at sign', () => requestLine(`/app/:80@${at()}/`)],
    ['a URL in the path', () => requestLine(`/app/http://${at()}/x`)],
    ['a URL in the query', () => requestLine(`/app/?url=http://${at()}/`)],
    [
      'X-Forwarded-Host',
      () => requestLine('/app/x').replace('Connection', `X-Forwarded-Host: ${at()}\r\nConnection`),
    ],
    [
      'Forwarded',
      () => requestLine('/app/x').replace('Connection', `Forwarded: host="${at()}"\r\nConnection`),
    ],
    [
      'X-Original-URL',
      () =>
        requestLine('/app/x').replace(
          'Connection',
          'X-Original-URL: /app/admin/\r\nX-Rewrite-URL: /app/admin/\r\nConnection',
        ),
    ],
    ['a port', () => requestLine('/app/x').replace(/Host: .*/, 'Host: 127.0.0.1:1')],
  ])('the other upstream gets no connection: %s', async (_, make) => {
    const status = statusOf(await rawHttp(site.origin, make()));
    expect(elsewhere.connections()).toBe(0);
    for (const { target } of upstream.take()) expect(target).toMatch(/^\/base\//);
    expect([200, 400, 401, 404, 421]).toContain(status);
  });

  test('the authority of HTTP/2', async () => {
    await using client = connectTo(site.origin, 'HTTP/2');
    await client.ask('/app/x', { fields: [basic(), [':authority', at()]] });
    expect(elsewhere.connections()).toBe(0);
    for (const { target } of upstream.take()) expect(target).toBe('/base/x');
  });
});

test('the gateway opens no tunnel for CONNECT', async () => {
  const { hostname, port } = new URL(site.origin);
  const socket = connect({ host: hostname, port: Number(port) });
  const { host } = new URL(upstream.url);
  socket.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n${basic().join(': ')}\r\n\r\n`);
  const [first] = await new Promise<Buffer[]>((resolve) => {
    socket.once('data', (piece: Buffer) => resolve([piece])).once('close', () => resolve([]));
  });
  socket.destroy();
  expect(statusOf(first?.toString('latin1') ?? '')).not.toBe(200);
  expect(upstream.take()).toEqual([]);
});
