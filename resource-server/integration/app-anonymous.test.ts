import { once } from 'node:events';
import http from 'node:http';
import { NEVER_ENDS } from '#shared/auth/standing/standing.fixture.ts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ORIGIN, type Scheme } from '#shared/auth/scheme.ts';
import { systemClock } from '#shared/base/clock.ts';
import { configSchema } from '#shared/config/schema.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { listen, type Listening } from '#shared/server/listen/listen.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { createOrder } from '../order.ts';
import { openDisk } from '../resources/content/disk.ts';
import { documents } from '../resources/documents.ts';
import { MadeMemory } from '../resources/place/made.ts';
import { createLockSystem } from '../resources/webdav/locks.ts';
import { everyScheme, NO_SIGN_IN } from '../space/spaces.fixture.ts';
import { createSpaces } from '../space/spaces.ts';
import { ask } from '#shared/server/wire/ask.fixture.ts';
import { RESOURCE } from './resource-server.fixture.ts';
import { errorsOf } from '../pages/errors.fixture.ts';

const BRAND = { name: 'Countersign', color: '#1f5fbf' };

/** A scheme that admits every request as anonymous. */
const open = (name: string) => (): Scheme => ({
  name,
  challenge: () => [{ scheme: name }],
  authenticate: () => ({ kind: 'granted', principal: { kind: 'anonymous' } }),
});

const space = (name: string, more: object = {}) => ({
  url: `${RESOURCE}/${name}/`,
  realm: name,
  schemes: ['PrivateToken'],
  scopes: { safe: ['read'], unsafe: ['write'] },
  ...more,
});

let folder = '';
let stores: Stores;
let server: Listening;
beforeAll(async () => {
  folder = await storeFolder();
  const [clock, random] = [systemClock, systemRandom];
  stores = await openSqlite({ folder, clock, random });
  const config = configSchema.parse({
    resource: RESOURCE,
    data: folder,
    spaces: [
      space('open', { grants: { anonymous: ['read', 'write'] } }),
      space('readable', { grants: { anonymous: ['read'] } }),
      space('people', { grants: { everyone: ['read', 'write'] } }),
      space('own', { grants: { anonymous: ['read', 'write'] }, tree: 'own' }),
    ],
  });
  const spaces = createSpaces(config, everyScheme(open), NO_SIGN_IN, systemClock);
  const { maxBytes, memory, quota } = config.documents;
  const disk = openDisk({
    folder,
    trees: stores.trees,
    limits: stores.limits,
    maxBytes,
    memory,
    quota,
    clock,
    random,
    log: silentLog,
  });
  const locks = createLockSystem({ clock, random });
  const served = documents({
    ...disk,
    locks,
    kept: stores.kept,
    made: new MadeMemory(100_000),
    brand: BRAND,
    clock,
    treeClock: clock,
    random,
    maxBytes,
  });
  const handler = createOrder({
    config,
    spaces,
    resources: new Map(spaces.all.map((one) => [one, served])),
    gateways: new Map(),
    standing: NEVER_ENDS,
    ofSchemes: new Map(),
    signIn: NO_SIGN_IN,
    clock,
    ready: () => stores.ping(),
    log: silentLog,
    brand: BRAND,
    errors: errorsOf(),
    recipient: { at: ORIGIN, proxies: trustedProxies([]), local: true },
  });
  server = await listen({ host: '127.0.0.1', port: 0, handler, log: silentLog });
});
afterAll(async () => {
  await server.close(0);
  await stores[Symbol.asyncDispose]();
});

const LOCK = `<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`;

const call = (method: string, path: string, body?: string, type = 'text/plain') =>
  ask(server.port, method, path, {
    headers: { Authorization: 'PrivateToken token="AA"', 'Content-Type': type },
    ...(body !== undefined && { body }),
  });

describe('RFC 9577: the anonymous principal', () => {
  test('an anonymous client reads and writes what the space grants to anonymous clients', async () => {
    expect((await call('PUT', '/open/a', 'one')).status).toBe(201);
    expect(await call('GET', '/open/a')).toMatchObject({ status: 200, text: 'one' });
    expect((await call('PROPFIND', '/open/', '', 'application/xml')).status).toBe(207);
  });

  test('uploads from one address leave space for uploads of anonymous clients at other addresses', async () => {
    const under: http.ClientRequest[] = [];
    const begin = async (localAddress: string) => {
      const headers = {
        Authorization: 'PrivateToken token="AA"',
        'Content-Length': 64 * 1024 * 1024,
        Expect: '100-continue',
      };
      const path = `/open/${under.length}`;
      const at = { host: '127.0.0.1', port: server.port, localAddress, path };
      const request = http.request({ ...at, method: 'PUT', headers });
      request.on('error', () => {});
      request.flushHeaders();
      under.push(request);
      const answered = once(request, 'response').then(([{ statusCode }]) => statusCode);
      return Promise.race([once(request, 'continue').then(() => 100), answered]);
    };
    const begun: number[] = [];
    for (let time = 0; time < 5; time += 1) begun.push(await begin('127.0.0.1'));
    expect(begun).toEqual([100, 100, 100, 100, 503]);
    expect(await begin('127.0.0.2')).toBe(100);
    for (const request of under) request.destroy();
  });

  test('an anonymous client has no access that is granted to people', async () => {
    expect((await call('GET', '/people/')).status).toBe(403);
    expect((await call('GET', '/readable/')).status).toBe(200);
    expect((await call('PUT', '/readable/a', 'one')).status).toBe(403);
  });

  test('an anonymous client has no tree of its own', async () => {
    expect((await call('GET', '/own/')).status).toBe(403);
    expect((await call('PUT', '/own/a', 'one')).status).toBe(403);
  });

  test('RFC 4918 section 6.4: an anonymous client cannot lock, since the next anonymous client would own the lock', async () => {
    const refused = await call('LOCK', '/open/b', LOCK, 'application/xml');
    expect(refused.status).toBe(403);
    expect((await call('GET', '/open/b')).status).toBe(404);
  });

  test('RFC 10008: an anonymous client can repeat a QUERY by a URL that cannot be guessed', async () => {
    await call('PUT', '/open/list.json', '[{"a":1},{"a":2}]', 'application/json');
    const asked = await call('QUERY', '/open/list.json', '$[0].a', 'application/jsonpath');
    expect(asked).toMatchObject({ status: 200, text: '[1]' });
    const again = await call('GET', String(asked.headers.location));
    expect(again).toMatchObject({ status: 200, text: '[1]' });
  });

  test('two anonymous clients get the same fields for the same request, except for the time', async () => {
    const first = await call('GET', '/open/a');
    const second = await call('GET', '/open/a');
    const passing = { date: '', 'x-request-id': '' };
    expect({ ...second.headers, ...passing }).toEqual({ ...first.headers, ...passing });
    expect(first.headers['set-cookie']).toBeUndefined();
  });
});
