import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import { endpointTable } from '#shared/server/endpoints/endpoint-table.fixture.ts';
import { APP, basic, SECRET } from './authz.fixture.ts';
import { CALLBACK, SERVER, testFlow } from './code-flow.fixture.ts';
import { ENDPOINTS } from '../base/endpoints.ts';
import { startTokenIssuer } from '../token-issuer/token-issuer.fixture.ts';

const ISSUER = 'https://as.example';
const ORIGINS = {
  none: 'none',
  "the client's": new URL(CALLBACK).origin,
  stranger: 'https://evil.example',
  null: 'null',
};
const MAIL = { host: 'mail.invalid', from: 'accounts@as.example' };
// No server answers at this port.
const SOURCE = { name: 'x', provider: { issuer: 'http://localhost:1', clientId: 'x' } };
const BROWSER = { Accept: 'text/html' };
const bearer = (token: unknown) => ({ Authorization: `Bearer ${String(token)}` });
const written = (name: string) => readFile(new URL(`../${name}`, import.meta.url), 'utf8');

/** A valid form for each endpoint for clients. */
const FORMS: Readonly<Record<string, string>> = {
  '/token': 'grant_type=refresh_token&refresh_token=x',
  '/token/introspection': 'token=x',
  '/token/revocation': 'token=x',
  '/request': `response_type=code&redirect_uri=${encodeURIComponent(CALLBACK)}`,
  '/device/auth': '',
};
const OF_FORM = 'application/x-www-form-urlencoded';

const METADATA = '/.well-known/oauth-protected-resource/private-token';
const ofTokenIssuer = (request: unknown, verify: unknown) => [
  { path: DIRECTORY_PATH },
  { path: `${METADATA}/request` },
  { path: `${METADATA}/verify` },
  ...Object.entries({ request, verify }).map(([name, token]) => ({
    path: `/private-token/${name}`,
    callers: { nobody: {}, 'a browser': BROWSER, 'a client': bearer(token) },
    content: { type: 'text/plain', body: 'x' },
  })),
];

// Some thousand requests take longer on a busy machine than any other test may take.
test('each method at each address, from every origin, gets the answer in endpoints.txt', async () => {
  const often = { burst: 10_000, per: 1 };
  const limits = { address: often, account: often };
  const issuing = {
    issuer: ISSUER,
    privateTokens: { issuer: ISSUER },
    gnap: {},
    mail: MAIL,
    sources: [SOURCE],
    people: { registration: 'open', removeThemselves: true },
  };
  await using flow = await testFlow({ ...issuing, limits });
  const requester = {
    ...APP,
    client_id: 'requester',
    admin: true,
    scope: 'private-token private-token:verify revocations:follow admin',
  };
  await flow.stores.clients.add(requester);
  const tokenFor = async (path: string, scope: string) => {
    const resource = `${ISSUER}${path}`;
    const form = { grant_type: 'client_credentials', resource, scope };
    return (await flow.post('/token', form, basic('requester', SECRET))).body['access_token'];
  };
  const { access_token: ofAlice } = await flow.tokens({ scope: 'openid profile' });
  const follows = await tokenFor('/revocations', 'revocations:follow');
  const tokens: Readonly<Record<string, object>> = {
    '/userinfo': bearer(ofAlice),
    '/revocations': bearer(follows),
    '/admin/api/x': bearer(await tokenFor('/admin/api', 'admin')),
  };
  const endpoints = Object.keys(ENDPOINTS).map((pattern) => {
    const path = pattern.replace(':uid', 'x');
    const body = FORMS[path];
    const known = tokens[path] ?? (body && basic(SERVER.client_id, SECRET));
    return {
      path,
      callers: { nobody: {}, 'a browser': BROWSER, ...(known && { 'a client': known }) },
      content: body === undefined ? undefined : { type: OF_FORM, body },
    };
  });
  const table = await endpointTable(Number(new URL(flow.url).port), ORIGINS, [
    { path: '*' },
    { path: '/nowhere', callers: { nobody: {}, 'a browser': BROWSER } },
    { path: '/health/ready' },
    { path: '/.well-known/oauth-protected-resource/admin/api' },
    ...endpoints,
    ...ofTokenIssuer(
      await tokenFor('/private-token/request', 'private-token'),
      await tokenFor('/private-token/verify', 'private-token:verify'),
    ),
  ]);
  expect(table).toBe(await written('endpoints.txt'));
});

test('each method at the token issuer with its own origin gets the answer in token-issuer/endpoints.txt', async () => {
  await using tokenIssuer = await startTokenIssuer();
  const { running, accessToken, serverToken } = tokenIssuer;
  const table = await endpointTable(running[0]?.port ?? 0, ORIGINS, [
    { path: '*' },
    { path: '/nowhere' },
    ...ofTokenIssuer(accessToken(), serverToken()),
  ]);
  expect(table).toBe(await written('token-issuer/endpoints.txt'));
});
