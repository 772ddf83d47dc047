/** @needs python3 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { generateCodeVerifier, OAuth2Client } from '@badgateway/oauth2-client';
import { freePort } from '../../parts/free-port.ts';
import { startTlsFront } from '../../parts/tls-front.ts';
import { CALLBACK } from '../../pair/people-client.ts';
import { startOAuthSite } from './oauth-site.ts';
import type { OAuthSite } from './oauth-site.ts';
import { PersonAtPages } from './person-at-pages.ts';
import { runScript } from './script-client.ts';

/**
 * Clients that repeat their scopes at each refresh (RFC 6749 section 6), including `offline_access`. A
 * sign-in without `prompt=consent` drops that scope (OpenID Connect Core 1.0 section 11). msal-node and
 * requests-oauthlib need an https issuer.
 */
const SCOPE = 'openid profile offline_access documents:read';
const GIVEN = new Set(['openid', 'profile', 'documents:read']);

const running = new AsyncDisposableStack();
let site: OAuthSite;
let issuer: string;
let person: PersonAtPages;
let client: { readonly id: string; readonly secret: string };

beforeAll(async () => {
  const port = await freePort();
  issuer = `https://localhost:${port}`;
  site = running.use(
    await startOAuthSite({
      settings: (origins) => ({ issuer, jwks: { url: `${origins.issuer}/jwks` } }),
    }),
  );
  const { pair } = site;
  const base = pair.authz[0]?.url ?? '';
  running.use(await startTlsFront(pair.data, port, base));
  person = new PersonAtPages({ issuer, base }, await pair.addPerson('bea'));
  client = await site.addClient('--scope', SCOPE);
});
afterAll(() => running.disposeAsync());

const script = (name: string) => new URL(`repeated-scopes/${name}`, import.meta.url).pathname;
const PYTHON = ['/usr/bin/python3', '-B'];
const WANTED = { OAUTHLIB_RELAX_TOKEN_SCOPE: '1' };

test.each<[string, readonly string[], NodeJS.ProcessEnv]>([
  ['msal-node', [process.execPath, script('msal-refresh.ts')], {}],
  ['Authlib', [...PYTHON, script('authlib_refresh.py')], {}],
  // By default this library refuses a token with fewer scopes than it asked for.
  ['requests-oauthlib', [...PYTHON, script('requests_oauthlib_refresh.py')], WANTED],
])(
  '%s: a refresh that repeats the requested scopes returns the granted scopes',
  async (_name, run, env) => {
    const front = join(site.pair.data, 'front.pem');
    const trust = { NODE_EXTRA_CA_CERTS: front, REQUESTS_CA_BUNDLE: front };
    const { id, secret } = client;
    const asked = { issuer, client_id: id, secret, redirect_uri: CALLBACK, scope: SCOPE };
    const told = (await runScript(run, asked, person, { ...process.env, ...trust, ...env })) as {
      readonly scopes: readonly string[];
      readonly token: string;
    };
    for (const scopes of told.scopes) expect(new Set(scopes.split(' '))).toEqual(GIVEN);
    expect(await site.pair.get(told.token)).toBe(200);
  },
);

test('@badgateway/oauth2-client: a refresh that repeats the requested scopes returns the granted scopes', async () => {
  const { pair } = site;
  const app = new OAuth2Client({
    server: pair.authz[0]?.url ?? '',
    authorizationEndpoint: '/auth',
    tokenEndpoint: '/token',
    clientId: client.id,
    clientSecret: client.secret,
  });
  const scope = SCOPE.split(' ');
  const codeVerifier = await generateCodeVerifier();
  const checks = { redirectUri: CALLBACK, state: 'a state', codeVerifier };
  const url = new URL(await app.authorizationCode.getAuthorizeUri({ ...checks, scope }));
  const answer = await person.answer(issuer + url.pathname + url.search);
  const first = await app.authorizationCode.getTokenFromCodeRedirect(answer, checks);
  const second = await app.refreshToken(first, { scope });
  for (const token of [first, second]) expect(new Set(token.scope)).toEqual(GIVEN);
  expect(await pair.get(second.accessToken)).toBe(200);
});
