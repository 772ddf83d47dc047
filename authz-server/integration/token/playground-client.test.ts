import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { PLAYGROUND_CLIENT, playgroundSigningKey } from '#shared/config/playground-client.ts';
import { APP, asApp, DOCUMENTS, testAuthz, type TestAuthz } from '../authz.fixture.ts';
import { asPlayground as asPlaygroundAt, assertion } from './playground.fixture.ts';

let authz: TestAuthz;
beforeAll(async () => {
  authz = await testAuthz({ playground: true, spaces: SPACES });
});
afterAll(async () => authz[Symbol.asyncDispose]());

/** One with the scope of the playground, too, which gives nobody a way from the one to the other. */
const SPACES = [
  { url: DOCUMENTS, realm: 'documents', schemes: ['Bearer'], scopes: { safe: ['play'] } },
];

const asPlayground = (path: string, form: Record<string, string>, at = authz) =>
  asPlaygroundAt(at, path, form);

const own = () => `${authz.config.resource}/playground/at/client-credentials/`;
const GRANT = { grant_type: 'client_credentials', scope: 'play' };

test('the client of the playground gets tokens for its own spaces, and revokes them', async () => {
  const { status, body } = await asPlayground('/token', { ...GRANT, resource: own() });
  expect(status).toBe(200);
  const token = String(body['access_token']);
  expect(decodeJwt(token)).toMatchObject({ aud: own(), scope: 'play', sub: PLAYGROUND_CLIENT });
  const isActive = async () =>
    (await asPlayground('/token/introspection', { token })).body['active'];
  expect(await isActive()).toBe(true);
  expect((await asPlayground('/token/revocation', { token })).status).toBe(200);
  expect(await isActive()).toBe(false);
});

test.each([
  { resource: DOCUMENTS },
  { resource: 'https://other.example/' },
  { scope: 'admin' },
  { scope: 'openid' },
  { scope: 'revocations:follow' },
  { grant_type: 'refresh_token', refresh_token: 'x' },
  { grant_type: 'authorization_code', code: 'x', redirect_uri: 'https://a.example/' },
])('it gets nothing else: %j', async (form) => {
  const { status, body } = await asPlayground('/token', { ...GRANT, ...form });
  expect(status).toBe(400);
  expect(body).not.toHaveProperty('access_token');
});

test('no other client gets a token for its spaces, though it may have a scope of that name', async () => {
  await authz.stores.clients.replace({ ...APP, scope: 'play', default_scope: 'play' });
  const asked = await authz.post('/token', { ...GRANT, resource: own() }, asApp);
  expect([asked.status, asked.body['error']]).toEqual([400, 'invalid_target']);
  const usual = await authz.post('/token', GRANT, asApp);
  expect(decodeJwt(String(usual.body['access_token'])).aud).toBe(DOCUMENTS);
});

test('it introspects no token of another client, and is in no list of clients', async () => {
  const { body } = await authz.post('/token', GRANT, asApp);
  const token = String(body['access_token']);
  const found = await asPlayground('/token/introspection', { token });
  expect(found.body).toEqual({ active: false });
  expect((await asPlayground('/token/revocation', { token })).status).toBe(400);
  const ids = (await authz.stores.clients.list()).map(({ client_id: id }) => id);
  expect(ids).not.toContain(PLAYGROUND_CLIENT);
});

test('a key that is derived otherwise is refused, and each assertion is good once', async () => {
  const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  const ask = (shown: string) =>
    authz.post('/token', { ...GRANT, client_assertion_type: type, client_assertion: shown });
  const other = playgroundSigningKey(Buffer.alloc(32, 8));
  expect((await ask(await assertion(authz, { key: other }))).status).toBe(401);
  const shown = await assertion(authz);
  expect([(await ask(shown)).status, (await ask(shown)).status]).toEqual([200, 401]);
});

test('without a playground nobody knows this client', async () => {
  await using without = await testAuthz({ playground: false, spaces: SPACES });
  const { status, body } = await asPlayground('/token', GRANT, without);
  expect([status, body['error']]).toEqual([401, 'invalid_client']);
});
