import { once } from 'node:events';
import http from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readCacheReport } from '#shared/stores/cache/reports.ts';
import { type Application, startApplication, startGateway } from '../../gateway.fixture.ts';
import type { Call } from '#shared/server/wire/ask.fixture.ts';
import { PAGES, RESOURCE } from '../../resource-server.fixture.ts';

const cache = { purge: { networks: ['192.0.2.0/24'] } };
/** An address of the listed network, as the trusted proxy of these tests reports it. */
const LISTED = { 'X-Forwarded-For': '192.0.2.7' };
const ELSEWHERE = { 'X-Forwarded-For': '198.51.100.7' };
const BAN = { Ban: 'path="/img/*"' };

let application: Application;
let rs: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  application = await startApplication();
  const upstream = { url: application.url };
  rs = await startGateway({
    shop: { upstream, cache },
    'shop/inner': { upstream },
    narrow: { upstream, cache, methods: ['GET'] },
    named: { upstream, cache, scopes: { PURGE: ['named:admin'] } },
    keys: { upstream, cache, schemes: ['API-Key'], apiKey: { query: 'key' } },
    open: { upstream, cache, schemes: [], scopes: {} },
    kept: { upstream, cache: {} },
    passed: { upstream, cache: {}, methods: ['GET', 'PURGE', 'BAN'] },
    hidden: { upstream, cache, hide: 'forbidden' },
    documents: { serves: 'documents' },
  });
});
afterAll(async () => {
  await rs[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
});

/** Sends a request on a new connection. Unknown methods need a Content-Length, since no parser knows them. */
async function send(server: typeof rs, method: string, path: string, { headers }: Call = {}) {
  const request = http.request({
    port: server.listening.port,
    method,
    path,
    agent: false,
    headers: { 'Content-Length': 0, ...headers },
  });
  request.end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}

/** Returns the answer, and the entries that it wrote to the feed. */
async function ask(method: string, path: string, call: Call = {}) {
  const last = async () =>
    (
      await Promise.all(
        (['target', 'ban'] as const).map((kind) => rs.stores.invalidations.list(kind, 100)),
      )
    ).flat();
  const before = new Set((await last()).map(({ position }) => position));
  const passed = application.asked.length;
  const reply = await send(rs, method, path, call);
  const told = (await last()).filter(({ position }) => !before.has(position));
  return {
    ...reply,
    told: told.map(({ space, value, soft }) => [space.replace(RESOURCE, ''), value, soft]),
    passed: application.asked.length - passed,
  };
}

const by = (scope: string, headers: object = {}) => ({
  headers: { Authorization: `Bearer ${rs.token(scope)}`, ...headers },
});

describe('PURGE', () => {
  test('PURGE without credentials is 401, and the challenge names the scope (RFC 6750 section 3)', async () => {
    const { status, headers, told } = await ask('PURGE', '/shop/a', { headers: ELSEWHERE });
    expect({ status, told }).toEqual({ status: 401, told: [] });
    expect(headers['www-authenticate']).toContain('scope="cache:purge"');
  });

  test('PURGE with a token that has only the scope of unsafe methods is 403', async () => {
    const { status, headers, told } = await ask('PURGE', '/shop/a', by('shop:write'));
    expect({ status, told }).toEqual({ status: 403, told: [] });
    expect(headers['www-authenticate']).toContain('cache:purge');
  });

  const PURGER = { aud: `${RESOURCE}/shop/` };
  test('PURGE with its scope purges at all servers, and the application gets no request', async () => {
    const token = rs.token('cache:purge', PURGER);
    const {
      status,
      headers,
      told,
      passed,
      text: body,
    } = await ask('PURGE', '/shop/a?b=%2f', {
      headers: { Authorization: `Bearer ${token}`, 'Soft-Purge': '?1' },
    });
    expect({ status, told, passed }).toEqual({
      status: 404,
      told: [['/shop/', '/shop/a?b=%2F', true]],
      passed: 0,
    });
    expect(headers).toMatchObject({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
    });
    expect(JSON.parse(body)).toMatchObject({ status: 404 });
  });

  test('PURGE with its scope for one space removes no answers of other spaces', async () => {
    const headers = { Authorization: `Bearer ${rs.token('cache:purge', PURGER)}` };
    for (const path of ['/narrow/a', '/named/a', '/kept/a']) {
      expect(await ask('PURGE', path, { headers })).toMatchObject({ status: 401, told: [] });
    }
  });

  test('PURGE from a listed network needs no credentials, and ignores invalid ones', async () => {
    for (const Authorization of [undefined, 'Bearer bad', `Bearer ${rs.token('shop:read')}`]) {
      const headers = { ...LISTED, ...(Authorization !== undefined && { Authorization }) };
      const { status, told } = await ask('PURGE', '/shop/a', { headers });
      expect({ status, told }).toEqual({ status: 404, told: [['/shop/', '/shop/a', false]] });
    }
  });

  test('a listed network gets no access beyond PURGE and BAN', async () => {
    const { status, passed } = await ask('GET', '/shop/a', { headers: LISTED });
    expect({ status, passed }).toEqual({ status: 401, passed: 0 });
  });

  test('PURGE from a page of another origin needs credentials, even from a listed network', async () => {
    const headers = { ...LISTED, Origin: PAGES };
    expect(await ask('PURGE', '/shop/a', { headers })).toMatchObject({ status: 401, told: [] });
  });

  test('PURGE in a space without schemes is 403 from other networks', async () => {
    const refused = await ask('PURGE', '/open/a', { headers: ELSEWHERE });
    expect(refused).toMatchObject({ status: 403, told: [], passed: 0 });
    const listed = await ask('PURGE', '/open/a', { headers: LISTED });
    expect(listed).toMatchObject({ status: 404, told: [['/open/', '/open/a', false]] });
    expect(await ask('GET', '/open/a', { headers: ELSEWHERE })).toMatchObject({ status: 200 });
  });

  test('PURGE needs the scope that the space configures', async () => {
    expect(await ask('PURGE', '/named/a', by('named:admin'))).toMatchObject({ status: 404 });
    const purger = by('cache:purge', {});
    const token = rs.token('cache:purge', { aud: `${RESOURCE}/named/` });
    purger.headers.Authorization = `Bearer ${token}`;
    expect(await ask('PURGE', '/named/a', purger)).toMatchObject({ status: 403, told: [] });
    const headers = { ...purger.headers, ...BAN };
    expect(await ask('BAN', '/named/a', { headers })).toMatchObject({ status: 200 });
  });

  test('PURGE of a target with an API key removes the target without the key', async () => {
    const { told } = await ask('PURGE', '/keys/a?b&key=secret', { headers: LISTED });
    expect(told).toEqual([['/keys/', '/keys/a?b', false]]);
  });

  test('PURGE of an absolute target removes its path (RFC 9112 section 3.2.2)', async () => {
    const { told } = await ask('PURGE', `${RESOURCE}/shop/a?b`, {
      headers: { ...LISTED, Host: new URL(RESOURCE).host },
    });
    expect(told).toEqual([['/shop/', '/shop/a?b', false]]);
  });

  test.each([
    '/shop/../open/a',
    '/shop/%2e%2e/open/a',
    '/shop/x/..;/..;/open/a',
    '/shop/..%2finner/a',
    '/shop/%69nner%2fa',
  ])('PURGE of a target that can be read in two ways is 400: %s', async (path) => {
    expect(await ask('PURGE', path, { headers: LISTED })).toMatchObject({ status: 400, told: [] });
  });

  test('PURGE in an inner space removes answers of the inner space', async () => {
    const headers = { ...LISTED };
    expect(await ask('PURGE', '/shop/inner/a', { headers })).toMatchObject({
      status: 401,
      told: [],
    });
  });

  test('PURGE is 503 if the store cannot write the invalidation', async () => {
    const failing = await startGateway(
      { shop: { upstream: { url: application.url }, cache } },
      {},
      (stores) => ({
        ...stores,
        invalidations: {
          ...stores.invalidations,
          add: async () => {
            const { StoreUnavailable } = await import('#shared/stores/outage/unavailable.ts');
            throw new StoreUnavailable('full');
          },
        },
      }),
    );
    const { status } = await failing.ask('PURGE', '/shop/a', { headers: LISTED });
    await failing[Symbol.asyncDispose]();
    expect(status).toBe(503);
  });
});

describe('BAN', () => {
  const headers = { ...LISTED, ...BAN };

  test('BAN needs its scope, or a listed network', async () => {
    expect(await ask('BAN', '/shop/', { headers: BAN })).toMatchObject({ status: 401, told: [] });
    expect(await ask('BAN', '/shop/', by('shop:write', BAN))).toMatchObject({ status: 403 });
    expect(await ask('BAN', '/open/', { headers: BAN })).toMatchObject({ status: 403, told: [] });
    const { status, told, text: body } = await ask('BAN', '/shop/', { headers });
    expect({ status, told }).toEqual({
      status: 200,
      told: [['/shop/', '{"path":"/img/*"}', false]],
    });
    expect(JSON.parse(body)).toEqual({ banned: { path: '/img/*' }, soft: false });
  });

  test('BAN works at any address of the space, and only for that space', async () => {
    const { told } = await ask('BAN', '/shop/img/a?b', { headers });
    expect(told).toEqual([['/shop/', '{"path":"/img/*"}', false]]);
  });

  test('BAN with a faulty expression gets an error that names the fault', async () => {
    const {
      status,
      told,
      text: body,
    } = await ask('BAN', '/shop/', {
      headers: { ...LISTED, Ban: 'path="img"' },
    });
    expect({ status, told }).toEqual({ status: 400, told: [] });
    expect(JSON.parse(body)).toMatchObject({ detail: expect.stringContaining('path must begin') });
  });

  /** Reads everything from a connection of HTTP/1.1. */
  async function raw(...lines: readonly string[]) {
    const socket = connect(rs.listening.port, '127.0.0.1');
    socket.write(lines.join('\r\n'));
    return text(socket);
  }
  const HEAD = [
    'BAN /shop/ HTTP/1.1',
    `Host: ${new URL(RESOURCE).host}`,
    'X-Forwarded-For: 192.0.2.7',
    'Content-Type: application/json',
  ];

  test('BAN over HTTP/1.1 may have content with a length, although no HTTP parser knows the method', async () => {
    const content = '{"tag":"news","soft":true}';
    const reply = await raw(...HEAD, `Content-Length: ${content.length}`, '', content);
    expect(reply).toMatch(/^HTTP\/1\.1 200 /);
    expect(reply).toContain('{"banned":{"tag":"news"},"soft":true}');
  });

  test('BAN over HTTP/1.1 may not have chunked content', async () => {
    const reply = await raw(...HEAD, 'Transfer-Encoding: chunked', '', '2', '{}', '0', '', '');
    expect(reply).toMatch(/^HTTP\/1\.1 411 /);
  });

  test('BAN over HTTP/2 may have content', async () => {
    const session = connectHttp2(`http://127.0.0.1:${rs.listening.port}`);
    const stream = session.request({
      ':method': 'BAN',
      ':path': '/shop/',
      ':authority': new URL(RESOURCE).host,
      'x-forwarded-for': '192.0.2.7',
      'content-type': 'application/json',
    });
    stream.end('{"status":404}');
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(head[':status']).toBe(200);
    expect(JSON.parse(await text(stream))).toEqual({ banned: { status: '404' }, soft: false });
    session.close();
  });
});

describe.each(['PURGE', 'BAN'])('%s outside a cache', (method) => {
  test.each([
    ['an application without it', 'kept', 'a'],
    ['a collection', 'documents', ''],
  ])(
    'PURGE and BAN are 405 at %s, and Allow names the methods (RFC 9110 section 15.5.6)',
    async (_, name, path) => {
      const call = by(`${name}:read ${name}:write`);
      const { status, headers, told, passed } = await ask(method, `/${name}/${path}`, call);
      expect({ status, told, passed }).toEqual({ status: 405, told: [], passed: 0 });
      expect(headers.allow).toContain('PROPFIND');
      expect(headers.allow).not.toContain(method);
    },
  );

  test('PURGE and BAN are 501 if no space has a cache', async () => {
    await using alone = await startGateway({ plain: { upstream: { url: application.url } } });
    expect(await send(alone, method, '/plain/a', { headers: LISTED })).toMatchObject({
      status: 501,
    });
  });

  test('PURGE and BAN are 404 in a space that hides 403', async () => {
    const call = { headers: { ...by('hidden:read').headers, ...BAN } };
    expect(await ask(method, '/hidden/a', call)).toMatchObject({ status: 404, told: [] });
  });
});

test('an application that lists PURGE itself receives it, with the scope of unsafe methods', async () => {
  const passed = await ask('PURGE', '/passed/a', by('passed:write'));
  // Here PURGE is an unsafe method of the application, so it invalidates its target (RFC 9111 section 4.4).
  const told = [['/passed/', '/passed/a', false]];
  expect(passed).toMatchObject({ status: 200, told, passed: 1 });
  const refused = await ask('PURGE', '/passed/a', { headers: LISTED });
  expect(refused).toMatchObject({ status: 401, passed: 0 });
});

test('a space that lists its methods still supports PURGE and BAN, and Allow names them', async () => {
  const { status, headers } = await ask('PUT', '/narrow/a', by('narrow:write'));
  expect(status).toBe(405);
  expect(headers.allow).toBe('GET, HEAD, OPTIONS, PURGE, BAN');
  expect(await ask('PURGE', '/narrow/a', { headers: LISTED })).toMatchObject({ status: 404 });
});

test('pages of a listed origin may send PURGE with a token (Fetch, section CORS-preflight fetch)', async () => {
  const { status, headers } = await ask('OPTIONS', '/shop/a', {
    headers: { Origin: PAGES, 'Access-Control-Request-Method': 'PURGE' },
  });
  expect(status).toBe(204);
  expect(headers['access-control-allow-methods']).toContain('PURGE');
});

test('the resource metadata names the scope of PURGE (RFC 9728 section 2)', async () => {
  const { text: body } = await rs.ask('GET', '/.well-known/oauth-protected-resource/shop/');
  expect(JSON.parse(body)).toMatchObject({
    scopes_supported: expect.arrayContaining(['shop:read', 'shop:write', 'cache:purge']),
  });
});

test('the report for the command line counts stored answers, requests and banned answers', async () => {
  await ask('GET', '/shop/report', by('shop:read'));
  await ask('BAN', '/shop/', { headers: { ...LISTED, Ban: 'path="/report"' } });
  await ask('GET', '/shop/report', by('shop:read'));
  const chore = rs.server.chores?.find(({ name }) => name === 'cache.report');
  await chore?.run();
  const [report = ''] = [...(await rs.stores.cacheReports.all()).values()];
  const shop = readCacheReport(report)?.find(({ space }) => space === '/shop/');
  expect(shop).toMatchObject({ entries: 0, octets: 0 });
  expect(shop?.counts['uri-miss']).toBeGreaterThan(1);
  const ban = { rule: { path: '/report' }, soft: false, met: 0 };
  expect(shop?.bans).toContainEqual(expect.objectContaining(ban));
});
