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

/** The user object of oidc-client-ts. */
interface User {
  readonly token_type: string;
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
  readonly profile: Readonly<Record<string, unknown>>;
}

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** oidc-client-ts in Chromium, on an origin of another site than the servers. */
let parts: AsyncDisposableStack;
let app: AppServer;
/** An application whose origin is not registered. */
let foreign: AppServer;
let pair: Pair;
let clientId: string;
let browser: Browser;

/** A new person who has signed in at the application. */
async function signedIn(dpop: boolean): Promise<Visitor> {
  // The library sends even a bound token to userinfo as Bearer.
  app.settings = { ...app.settings, dpop, loadUserInfo: !dpop };
  const visitor = await Visitor.arrive(pair, browser, app);
  await visitor.signIn();
  return visitor;
}

describe.each(ONE_STORE)('on %s', (kind) => {
  beforeAll(async () => {
    parts = new AsyncDisposableStack();
    app = parts.use(await startAppServer('oidc-client-ts'));
    foreign = parts.use(await startAppServer('oidc-client-ts'));
    const { origin, callback } = app;
    pair = parts.use(
      await startPair({
        ...(await startStore(kind, parts)),
        settings: ({ resource }) => ({
          tokens: { nonce: true },
          spaces: ['documents', 'closed'].map((name) => ({
            url: `${resource}/${name}/`,
            realm: name,
            schemes: ['Bearer', 'DPoP'],
            scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
            nonce: true,
            cors: { origins: name === 'documents' ? [origin] : [] },
          })),
        }),
      }),
    );
    browser = await launchBrowser();
    parts.defer(() => browser.close());
    const redirects = ['--redirect-uri', callback];
    const afterLogout = ['--post-logout-redirect-uri', `${origin}/signed-out`];
    const grants = ['--grant', 'authorization_code', '--grant', 'refresh_token'];
    const added = await addPeopleClient(pair, '--public', ...grants, ...redirects, ...afterLogout);
    clientId = added.id;
    const settings = {
      authority: pair.issuer,
      client_id: clientId,
      redirect_uri: callback,
      post_logout_redirect_uri: `${origin}/signed-out`,
      scope: 'openid profile documents:read documents:write',
      resource: pair.documents,
      // By default the library hides acr and amr from the application.
      filterProtocolClaims: false,
    };
    app.settings = settings;
    foreign.settings = { ...settings, redirect_uri: foreign.callback };
  });
  afterAll(() => parts.disposeAsync());

  describe.each([
    ['with DPoP (RFC 9449)', true],
    ['with Bearer tokens (RFC 6750)', false],
  ])('oidc-client-ts, code flow with PKCE, %s', (_name, dpop) => {
    test('signs in, and reads ID token and userinfo', async () => {
      await using visitor = await signedIn(dpop);
      const { person } = visitor;
      const user = await visitor.call<User>('user');
      expect(user).toMatchObject({
        token_type: dpop ? 'DPoP' : 'Bearer',
        scope: 'openid profile documents:read documents:write',
        profile: {
          iss: pair.issuer,
          aud: clientId,
          sub: person.id,
          preferred_username: person.name,
          acr: 'urn:countersign:acr:password',
          amr: ['pwd'],
        },
      });
      const url = `${pair.issuer}/userinfo`;
      const { status, text } = await visitor.call<Answered>('request', url);
      expect([status, JSON.parse(text)]).toEqual([
        200,
        { sub: person.id, preferred_username: person.name, updated_at: expect.any(Number) },
      ]);
    });

    test('reads and writes documents of another origin (Fetch Standard, CORS protocol)', async () => {
      await using visitor = await signedIn(dpop);
      const url = `${pair.documents}${visitor.person.name}.txt`;
      const put = await visitor.call<Answered>('request', url, {
        method: 'PUT',
        body: 'by a script',
      });
      expect(put.status).toBe(201);
      const got = await visitor.call<Answered>('request', url);
      expect(got).toEqual({ status: 200, text: 'by a script' });
      const closed = visitor.call('request', `${pair.resource}/closed/`);
      await expect(closed).rejects.toThrow('Failed to fetch');
    });

    test('RFC 6749 section 6: refreshes tokens without the person', async () => {
      await using visitor = await signedIn(dpop);
      const before = await visitor.call<User>('user');
      const after = await visitor.call<User>('refresh');
      expect(after.access_token).not.toBe(before.access_token);
      expect(after.profile['sub']).toBe(visitor.person.id);
      // A refresh token bound to a key is useless to a thief, so it is not rotated.
      expect(after.refresh_token === before.refresh_token).toBe(dpop);
      const got = await visitor.call<Answered>('request', pair.documents);
      expect(got.status).toBe(200);
    });

    test('RP-Initiated Logout 1.0: signs the browser out, and its token is refused at once', async () => {
      await using visitor = await signedIn(dpop);
      const { page } = visitor;
      const fresh = () =>
        visitor.call<Record<string, string>>('freshHeaders', 'GET', pair.documents);
      const [first, second] = [await fresh(), await fresh()];
      expect((await fetch(pair.documents, { headers: first })).status).toBe(200);
      await visitor.signOut();
      const refused = await fetch(pair.documents, { headers: second });
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"');
      expect(await visitor.call('user')).toBeNull();
      await page.goto(`${pair.issuer}/account`);
      expect(await page.getByLabel('Password').isVisible()).toBe(true);
    });
  });

  test('a script of an unregistered origin cannot use the client', async () => {
    const page = await browser.newPage();
    await page.goto(foreign.origin);
    const post = (path: string) =>
      page.evaluate(`fetch('${pair.issuer}${path}', {
      method: 'POST',
      body: new URLSearchParams({ client_id: '${clientId}', token: 'none' }),
    })`);
    for (const path of ['/token', '/token/revocation', '/request', '/device/auth']) {
      await expect(post(path)).rejects.toThrow('Failed to fetch');
    }
    // OpenID Connect Discovery 1.0 section 4: every origin may read the metadata.
    const metadata = page.evaluate(
      `fetch('${pair.issuer}/.well-known/openid-configuration').then(({ status }) => status)`,
    );
    expect(await metadata).toBe(200);
    await page.close();
  });

  test('RFC 6749 section 4.1.2.1: an unregistered redirect URI gets no answer', async () => {
    const page = await browser.newPage();
    await page.goto(foreign.origin);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'This request cannot be answered' }).waitFor();
    expect(new URL(page.url()).origin).toBe(pair.issuer);
    await page.close();
  });
});
