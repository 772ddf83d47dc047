import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NEVER_ENDS } from '#shared/auth/standing/standing.fixture.ts';
import { ORIGIN, type Scheme } from '#shared/auth/scheme.ts';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { configSchema } from '#shared/config/schema.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { listen, type Listening } from '#shared/server/listen/listen.ts';
import { createOrder } from '../order.ts';
import { errorsOf } from '../pages/errors.fixture.ts';
import { identity } from '../resources/identity.ts';
import { ask } from '#shared/server/wire/ask.fixture.ts';
import { RESOURCE } from './resource-server.fixture.ts';
import { everyScheme, NO_SIGN_IN } from '../space/spaces.fixture.ts';
import { createSpaces, type Spaces } from '../space/spaces.ts';

const BRAND = { name: 'Countersign', color: '#1f5fbf' };

/** A scheme that admits requests that name it. */
const open = (name: string) => (): Scheme => ({
  name,
  challenge: () => [{ scheme: name }],
  authenticate: () => ({ kind: 'granted', principal: { kind: 'anonymous' } }),
});

let server: Listening;
let lookedUp: string[] = [];
beforeAll(async () => {
  const space = (name: string, more: object = {}) => ({
    url: `${RESOURCE}/${name}/`,
    realm: name,
    serves: 'identity',
    schemes: ['PrivateToken'],
    ...more,
  });
  const config = configSchema.parse({
    resource: RESOURCE,
    spaces: [space('a'), space('b', { cors: { origins: ['https://pages.example'] } })],
  });
  const all = createSpaces(config, everyScheme(open), NO_SIGN_IN, systemClock);
  const spaces: Spaces = {
    ...all,
    find(origin, segments) {
      lookedUp.push(`/${segments.join('/')}`);
      return all.find(origin, segments);
    },
  };
  const handler = createOrder({
    config,
    spaces,
    resources: new Map(all.all.map((one) => [one, identity])),
    gateways: new Map(),
    standing: NEVER_ENDS,
    ofSchemes: new Map(),
    signIn: NO_SIGN_IN,
    clock: systemClock,
    ready: async () => {},
    log: silentLog,
    brand: BRAND,
    errors: errorsOf(),
    recipient: { at: ORIGIN, proxies: trustedProxies(['127.0.0.1']), local: true },
  });
  server = await listen({ host: '127.0.0.1', port: 0, handler, log: silentLog });
});
afterAll(() => server.close(0));

describe('the space of a request is looked up once', () => {
  const preflight = {
    Origin: 'https://pages.example',
    'Access-Control-Request-Method': 'GET',
  };
  const authorized = { Authorization: 'PrivateToken token="AA"' };
  test.each<[string, string, string, object, number, readonly string[]]>([
    ['let in', 'GET', '/a/', authorized, 200, ['/a']],
    ['not let in', 'GET', '/a/', {}, 401, ['/a']],
    ['a preflight', 'OPTIONS', '/b/', preflight, 204, ['/b']],
    ['405', 'DELETE', '/a/', authorized, 405, ['/a']],
    ['501', 'REPORT', '/a/', authorized, 501, ['/a']],
    ['no space', 'GET', '/c', {}, 404, ['/c']],
    ['an endpoint', 'GET', '/health/live', {}, 200, ['/health/live']],
    ['a doubled slash, where no documents are', 'GET', '/a//x', authorized, 400, ['/a/x']],
    ['no target at all', 'GET', '//a/', authorized, 400, []],
  ])(
    'the space is looked up once for a request: %s',
    async (_what, method, path, headers, status, expected) => {
      lookedUp = [];
      expect((await ask(server.port, method, path, { headers: { ...headers } })).status).toBe(
        status,
      );
      expect(lookedUp).toEqual(expected);
    },
  );

  test('the space of the described request and that of /verify itself are each looked up once', async () => {
    lookedUp = [];
    const { host, protocol } = new URL(RESOURCE);
    const headers = {
      ...authorized,
      'X-Forwarded-Method': 'GET',
      'X-Forwarded-Proto': protocol.slice(0, -1),
      'X-Forwarded-Host': host,
      'X-Forwarded-Uri': '/b/',
    };
    expect((await ask(server.port, 'GET', '/verify', { headers })).status).toBe(204);
    expect(lookedUp).toEqual(['/verify', '/b']);
  });
});
