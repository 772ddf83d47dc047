import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../parts/browser.ts';
import { startStore, ONE_STORE } from '../../flows/flow.ts';
import { startPair } from '../../pair/pair.ts';
import type { Pair } from '../../pair/pair.ts';
import { addPeopleClient } from '../../pair/people-client.ts';
import { startAppServer } from './spa/app-server.ts';
import type { AppServer } from './spa/app-server.ts';
import { Visitor } from './spa/visitor.ts';

interface Tokens {
  readonly token_type: string;
  readonly access_token: string;
  readonly refresh_token: string;
}

interface Answered {
  readonly status: number;
  readonly text?: string;
  readonly error?: string;
}

/**
 * oauth4webapi as an ES module in Chromium, on an origin of another site: pushed requests, a key that never
 * leaves the browser, and nonces of both servers.
 */
let parts: AsyncDisposableStack;
let app: AppServer;
let pair: Pair;
let browser: Browser;

async function signedIn(): Promise<Visitor> {
  const visitor = await Visitor.arrive(pair, browser, app);
  await visitor.signIn();
  return visitor;
}

describe.each(ONE_STORE)('on %s', (kind) => {
  beforeAll(async () => {
    parts = new AsyncDisposableStack();
    app = parts.use(await startAppServer('oauth4webapi'));
    pair = parts.use(
      await startPair({
        ...(await startStore(kind, parts)),
        settings: ({ resource }) => ({
          tokens: { nonce: true },
          spaces: [
            {
              url: `${resource}/documents/`,
              realm: 'documents',
              schemes: ['DPoP'],
              scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
              nonce: true,
              cors: { origins: [app.origin] },
            },
          ],
        }),
      }),
    );
    browser = await launchBrowser();
    parts.defer(() => browser.close());
    const grants = ['--grant', 'authorization_code', '--grant', 'refresh_token'];
    const redirect = ['--redirect-uri', app.callback];
    const { id } = await addPeopleClient(pair, '--public', ...grants, ...redirect);
    app.settings = {
      issuer: pair.issuer,
      client_id: id,
      redirect_uri: app.callback,
      scope: 'openid profile documents:read documents:write',
    };
  });
  afterAll(() => parts.disposeAsync());

  test('RFC 9126, RFC 7636, RFC 9449: gets a code, reads userinfo and documents, and refreshes', async () => {
    await using visitor = await signedIn();
    const { person, page } = visitor;
    const tokens = await visitor.call<Tokens>('redeem', page.url());
    expect(tokens).toMatchObject({
      token_type: 'dpop',
      scope: 'openid profile documents:read documents:write',
    });
    expect(await visitor.call('userinfo', tokens, person.id)).toEqual({
      sub: person.id,
      preferred_username: person.name,
      updated_at: expect.any(Number),
    });
    const url = `${pair.documents}${person.name}.txt`;
    expect(
      await visitor.call<Answered>('request', tokens, 'PUT', url, 'by a script'),
    ).toMatchObject({
      status: 201,
    });
    const refreshed = await visitor.call<Tokens>('refresh', tokens);
    expect(await visitor.call<Answered>('request', refreshed, 'GET', url)).toEqual({
      status: 200,
      text: 'by a script',
    });
  });

  test('RFC 9449 section 7.1: the token is refused in another browser', async () => {
    await using visitor = await signedIn();
    const tokens = await visitor.call<Tokens>('redeem', visitor.page.url());
    await using thief = await signedIn();
    expect(await thief.call<Answered>('request', tokens, 'GET', pair.documents)).toEqual({
      status: 401,
      error: 'invalid_token',
    });
    expect(await thief.refusal('refresh', tokens)).toBe('invalid_grant');
    expect(await visitor.call<Answered>('request', tokens, 'GET', pair.documents)).toMatchObject({
      status: 200,
    });
  });

  test('RFC 7009 section 2: a token that the script revoked is refused from the next request on', async () => {
    await using visitor = await signedIn();
    const tokens = await visitor.call<Tokens>('redeem', visitor.page.url());
    const read = () => visitor.call<Answered>('request', tokens, 'GET', pair.documents);
    expect((await read()).status).toBe(200);
    await visitor.call('revoke', tokens.access_token);
    expect(await read()).toEqual({ status: 401, error: 'invalid_token' });
    const refreshed = await visitor.call<Tokens>('refresh', tokens);
    expect((await visitor.call<Answered>('request', refreshed, 'GET', pair.documents)).status).toBe(
      200,
    );
    await visitor.call('revoke', refreshed.refresh_token);
    expect(await visitor.refusal('refresh', refreshed)).toBe('invalid_grant');
    expect((await visitor.call<Answered>('request', refreshed, 'GET', pair.documents)).status).toBe(
      401,
    );
  });

  test('RFC 9207 section 2.4: the script sends no code of an answer with another iss or none', async () => {
    await using visitor = await signedIn();
    const { page } = visitor;
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url()));
    for (const iss of ['https://evil.example', undefined]) {
      const callback = new URL(page.url());
      expect(callback.searchParams.get('iss')).toBe(pair.issuer);
      callback.searchParams.delete('iss');
      if (iss !== undefined) callback.searchParams.set('iss', iss);
      await expect(visitor.call('redeem', callback)).rejects.toThrow('"iss"');
    }
    expect(sent).toEqual([]);
    expect(await visitor.call<Tokens>('redeem', page.url())).toHaveProperty('access_token');
    expect(sent).toContain(`${pair.issuer}/token`);
  });

  test('RFC 6749 section 4.1.2: a second use of a code revokes its tokens', async () => {
    await using visitor = await signedIn();
    const url = visitor.page.url();
    const tokens = await visitor.call<Tokens>('redeem', url);
    expect(await visitor.refusal('redeem', url)).toBe('invalid_grant');
    expect((await visitor.call<Answered>('request', tokens, 'GET', pair.documents)).status).toBe(
      401,
    );
  });
});
