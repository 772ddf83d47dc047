import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { Provider } from 'oidc-provider';
import { systemClock } from '#shared/base/clock.ts';
import { type Log, silentLog } from '#shared/base/log.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import {
  APP,
  asApp,
  basic,
  DOCUMENTS,
  SECRET,
  testAuthz,
  type TestAuthz,
} from '../authz.fixture.ts';

const FORM = 'application/x-www-form-urlencoded';
const GRANT = { grant_type: 'client_credentials' };

let authz: TestAuthz;
/** The number of requests that went through the engine. */
let through = 0;
/** The lines of the log, one for each request. */
const logged: unknown[] = [];
const log: Log = {
  ...silentLog,
  info: (event, fields) => void (event === 'request' && logged.push(fields)),
};

beforeAll(async () => {
  const { callback } = Provider.prototype;
  jest.spyOn(Provider.prototype, 'callback').mockImplementation(function watched(this: Provider) {
    const pipeline = callback.call(this);
    return (...exchange) => {
      through += 1;
      return pipeline(...exchange);
    };
  });
  const limits = { client: { burst: 20, per: 60 } };
  authz = await testAuthz({ limits }, systemClock, log);
});
beforeEach(() => {
  through = 0;
  logged.length = 0;
});
afterAll(async () => {
  jest.restoreAllMocks();
  await authz[Symbol.asyncDispose]();
});

/** Registers a client whose limit no other test uses up. */
async function client(id: string, record: Partial<typeof APP> = {}): Promise<void> {
  await authz.stores.clients.add({ ...APP, ...record, client_id: id });
}

test.each([
  ['by Basic', {}, asApp],
  ['by the form', { client_id: 'app', client_secret: SECRET }, {}],
  ['with the charset that fetch adds', {}, { ...asApp, 'content-type': `${FORM};charset=UTF-8` }],
])(
  'a plain request is answered without the engine, and logged as if by the engine: %s',
  async (_, form, fields) => {
    const { status, body } = await authz.post('/token', { ...GRANT, ...form }, fields);
    expect([status, through]).toEqual([200, 0]);
    expect(decodeJwt(String(body['access_token']))).toMatchObject({ client_id: 'app' });
    const line = { status: 200, client: 'app', grant: 'client_credentials', format: 'Bearer' };
    await eventually(() => expect(logged).toEqual([expect.objectContaining(line)]));
  },
);

test.each([
  ['ES256', 'documents:read', DOCUMENTS],
  ['RS256', 'rsa', 'https://rsa.example/'],
  ['EdDSA', 'ed', 'https://ed.example/'],
])(
  'RFC 9068 section 2.1: a token issued without the engine has the algorithm of its resource, %s',
  async (alg, scope, audience) => {
    const { body } = await authz.post('/token', { ...GRANT, scope }, asApp);
    expect(through).toBe(0);
    const token = String(body['access_token']);
    const keys = createRemoteJWKSet(new URL('/jwks', authz.url));
    const { protectedHeader, payload } = await jwtVerify(token, keys, { audience, typ: 'at+jwt' });
    expect(protectedHeader.alg).toBe(alg);
    expect(payload).toMatchObject({ scope, sub: 'app', iss: authz.config.issuer });
  },
);

test('a change of a client takes effect for its next request', async () => {
  const read = { ...GRANT, scope: 'documents:read' };
  const ask = async () => (await authz.post('/token', read, basic('changing', SECRET))).status;
  await client('changing');
  expect([await ask(), await ask(), through]).toEqual([200, 200, 0]);
  const known = await authz.stores.clients.get('changing');
  if (known === undefined) throw new Error('there is no client');
  await authz.stores.clients.replace({ ...known, scope: 'documents:write' }, known);
  expect(await ask()).toBe(400);
  await authz.stores.clients.replace({ ...known, secret_hash: 'x'.repeat(43) });
  expect(await ask()).toBe(401);
  await authz.stores.clients.remove('changing');
  expect(await ask()).toBe(401);
});

test.each([
  ['beside the engine', {}, 0],
  ['through the engine', { unknown: 'x' }, 1],
])(
  'a client that gets a new secret and ends while its old secret is checked has no valid token afterwards, %s',
  async (_, more, ways) => {
    const id = `ended-${ways}`;
    await client(id);
    const { clients, limits, revocations } = authz.stores;
    const spends = limits.spend.bind(limits);
    using spend = jest.spyOn(limits, 'spend');
    spend.mockImplementation(async (...bucket) => {
      if (bucket[0] === 'client') {
        await clients.replace({ ...APP, client_id: id, secret_hash: 'x'.repeat(43) });
        await revocations.raise('client', id, Date.now() + 60_000);
      }
      return spends(...bucket);
    });
    const { body } = await authz.post('/token', { ...GRANT, ...more }, basic(id, SECRET));
    const { client_gen = 0 } = 'error' in body ? {} : decodeJwt(String(body['access_token']));
    expect([client_gen, through]).toEqual([0, ways]);
    expect(spend.mock.calls.map(([namespace]) => namespace)).toEqual(['address', 'client']);
  },
);

test.each([
  ['a wrong secret', GRANT, basic('app', 'wrong'), 401],
  ['an unknown client', GRANT, basic('nobody', SECRET), 401],
  ['a scope that it may not ask for', { ...GRANT, scope: 'unknown' }, asApp, 400],
  ['another grant', { grant_type: 'refresh_token', refresh_token: 'x' }, asApp, 400],
  ['a parameter twice', [...Object.entries(GRANT), ...Object.entries(GRANT)], asApp, 400],
  ['a DPoP proof', GRANT, { ...asApp, dpop: 'x' }, 400],
  ['a form in two media types', GRANT, { ...asApp, 'content-type': `${FORM}, ${FORM}` }, 400],
] as const)(
  'a request that must be refused goes to the engine: %s',
  async (_, form, fields, status) => {
    const answer = await authz.post('/token', form as [string, string][], fields);
    expect([answer.status, through]).toEqual([status, 1]);
  },
);

test('a refused scope of another resource is not named as one that the client may ask for here', async () => {
  const resource = `${authz.config.issuer}/revocations`;
  await client('elsewhere');
  const form = { ...GRANT, resource, scope: 'documents:read' };
  const { status, body } = await authz.post('/token', form, basic('elsewhere', SECRET));
  expect([status, body]).toMatchObject([
    400,
    {
      error: 'invalid_scope',
      error_description: expect.stringMatching(
        `^for ${resource} this client may not ask for documents:read; for other resources it may ask for: .*documents:read`,
      ),
    },
  ]);
});

test('one setting makes the engine answer all requests', async () => {
  await using slow = await testAuthz({ tokens: { direct: false } });
  expect((await slow.post('/token', GRANT, asApp)).status).toBe(200);
  expect(through).toBe(1);
});

test('concurrent requests use up exactly the limit, and the others get the time to wait', async () => {
  await client('hasty');
  const asked = Array.from({ length: 25 }, () =>
    authz.post('/token', GRANT, basic('hasty', SECRET)),
  );
  const answers = await Promise.all(asked);
  const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
  expect([count(200), count(429)]).toEqual([20, 5]);
  for (const { status, headers } of answers) {
    expect(headers.has('retry-after')).toBe(status === 429);
  }
});

describe('a request uses its limit once, whichever code answers it', () => {
  test.each([
    ['the limit', { ok: false, retryAfter: 47 }, 429, '47'],
    ['an outage', Promise.reject(new StoreUnavailable('late')), 503, '1'],
  ] as const)('a request meets %s once', async (_, outcome, ...told) => {
    using spend = jest.spyOn(authz.stores.limits, 'spend');
    spend.mockReturnValueOnce({ ok: true, remaining: 1, reset: 1 }).mockReturnValueOnce(outcome);
    const { status, headers } = await authz.post('/token', GRANT, asApp);
    expect([status, headers.get('retry-after')]).toEqual(told);
    expect(spend.mock.calls.map(([namespace]) => namespace)).toEqual(['address', 'client']);
    expect(through).toBe(1);
  });

  test('a request that has paid for its limit does not pay again after a later failure', async () => {
    using spend = jest.spyOn(authz.stores.limits, 'spend');
    using append = jest.spyOn(authz.stores.audit, 'append');
    append.mockReturnValueOnce(Promise.reject(new StoreUnavailable('late')));
    await client('paying');
    expect((await authz.post('/token', GRANT, basic('paying', SECRET))).status).toBe(200);
    expect(spend.mock.calls.map(([namespace]) => namespace)).toEqual(['address', 'client']);
    expect(through).toBe(1);
  });
});

test('RFC 9112 section 9.3: the connection stays usable after a form that was not read', async () => {
  const { port } = new URL(authz.url);
  await client('lasting');
  const content = 'grant_type=client_credentials';
  const request = [
    'POST /token HTTP/1.1',
    'Host: localhost',
    `Authorization: ${basic('lasting', SECRET).authorization}`,
    `Content-Type: ${FORM}`,
    `Content-Length: ${content.length}`,
    '',
    content,
  ].join('\r\n');
  const socket = connect(Number(port), '127.0.0.1');
  let received = '';
  socket.on('data', (piece) => (received += piece.toString()));
  socket.write(request + request + request.replace('Host: ', 'Connection: close\r\nHost: '));
  await new Promise((resolve) => void socket.once('close', resolve));
  expect(received.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(3);
  expect(through).toBe(0);
});
