import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { Browser, Cookie } from 'playwright-core';
import { launchBrowser } from '../parts/browser.ts';
import { startCallback } from '../parts/callback.ts';
import type { Callback } from '../parts/callback.ts';
import { freePort } from '../parts/free-port.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { addPeopleClient, CODE_GRANTS } from '../pair/people-client.ts';
import { startTlsFront } from '../parts/tls-front.ts';
import { decide, signIn } from './browser.fixture.ts';
import { CHALLENGE, VERIFIER } from './person.ts';

/** As in production, a proxy terminates TLS, and the issuer is the proxy's https origin. */
const running = new AsyncDisposableStack();
let pair: Pair;
let issuer: string;
let browser: Browser;
let callback: Callback;

beforeAll(async () => {
  const port = await freePort();
  issuer = `https://localhost:${port}`;
  pair = await startPair({
    settings: (origins) => ({ issuer, jwks: { url: `${origins.issuer}/jwks` } }),
  });
  running.use(pair);
  running.use(await startTlsFront(pair.data, port, pair.authz[0]?.url ?? ''));
  callback = running.use(await startCallback());
  browser = await launchBrowser();
  running.defer(() => browser.close());
});
afterAll(async () => running.disposeAsync());

const named = (cookies: readonly Cookie[]) =>
  new Map(cookies.map((cookie) => [cookie.name.replace(/\.sig$/, ''), cookie]));

describe('over https (RFC 6265bis section 4.1.3)', () => {
  test('Chromium accepts the cookies with their prefixes, and the code flow works with them', async () => {
    const person = await pair.addPerson();
    const redirect = ['--redirect-uri', callback.uri];
    const { id } = await addPeopleClient(pair, '--public', ...CODE_GRANTS, ...redirect);
    await using context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    const request = {
      client_id: id,
      response_type: 'code',
      redirect_uri: callback.uri,
      scope: 'openid documents:read',
      state: 'over-https',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
    };
    await page.goto(`${issuer}/auth?${new URLSearchParams(request).toString()}`);
    const waiting = named(await context.cookies(`${issuer}${new URL(page.url()).pathname}`));
    expect([...waiting.keys()].toSorted()).toEqual(['__Host-csrf', '__Secure-interaction']);
    await signIn(page, person);
    await decide(page, 'Allow');

    const answer = new URL((await callback.answer('over-https')).url).searchParams;
    expect(answer.get('iss')).toBe(issuer);
    const form = { grant_type: 'authorization_code', client_id: id, code_verifier: VERIFIER };
    const response = await fetch(`${pair.authz[0]?.url}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        ...form,
        redirect_uri: callback.uri,
        code: answer.get('code') ?? '',
      }),
    });
    const tokens = (await response.json()) as { access_token: string };
    expect(decodeJwt(tokens.access_token)).toMatchObject({ iss: issuer, sub: person.id });
    expect(await pair.get(tokens.access_token)).toBe(200);

    const kept = named(await context.cookies(`${issuer}/account`));
    expect([...kept.keys()].toSorted()).toEqual([
      '__Host-csrf',
      '__Host-known',
      '__Host-session',
      '__Host-way',
    ]);
    for (const cookie of kept.values()) {
      expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Lax', path: '/' });
      expect(cookie.domain).toBe('localhost');
    }
  });
});
