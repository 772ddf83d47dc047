import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import type { Page } from '../../../authz-server/integration/browser.fixture.ts';
import { AFTER_LOGOUT } from '../../pair/people-client.ts';
import { until } from '../../parts/process.ts';
import { addSuiteClient, type OidcSite } from './oidc-site.ts';
import { SuiteClient, type Visitor } from './suite-client.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

const metadataOf = async ({ pair }: OidcSite) =>
  (await fetch(`${pair.issuer}/.well-known/openid-configuration`)).json();

/** A person who has signed in to the client, whose ID token is the hint. */
async function signedIn(site: OidcSite, registered = site.first) {
  const client = new SuiteClient(site.pair, registered);
  const visitor = site.visitor();
  const { tokens, claims } = await client.signIn(visitor);
  return { client, visitor, hint: tokens.id_token, claims };
}

/** Sends the person to the logout endpoint (OpenID Connect RP-Initiated Logout 1.0 section 2). */
const toLogout = ({ browser }: Visitor, parameters: Readonly<Record<string, string>>) =>
  browser.open(`/session/end?${new URLSearchParams(parameters).toString()}`);

/** Confirms that the person wants to sign out; the page must ask. */
const confirm = ({ browser }: Visitor, page: Page) => browser.submit(page, { logout: 'yes' });

/** Expects whether `prompt=none` still gives a code. */
async function expectSession(client: SuiteClient, visitor: Visitor, isThere: boolean) {
  const { answer } = await client.answer(visitor, client.request({ prompt: 'none' }));
  expect([answer.has('code'), answer.get('error')]).toEqual(
    isThere ? [true, null] : [false, 'login_required'],
  );
}

/** The modules of the plan RP-Initiated Logout. */
export const logoutSteps = (site: () => OidcSite) => {
  /** Expects that the person is signed out and returns to the application with this state. */
  const returns = async (state: string | undefined) => {
    const { client, visitor, hint } = await signedIn(site());
    const usual = { id_token_hint: hint, post_logout_redirect_uri: AFTER_LOGOUT };
    const page = await toLogout(visitor, { ...usual, ...(state !== undefined && { state }) });
    const back = new URL((await confirm(visitor, page)).headers.get('location') ?? '');
    expect(back.origin + back.pathname).toBe(AFTER_LOGOUT);
    expect([...back.searchParams]).toEqual(state === undefined ? [] : [['state', state]]);
    await expectSession(client, visitor, false);
  };

  /** Expects that the person is signed out on a page of the server. */
  const staysHere = async (parameters: (hint: string) => Readonly<Record<string, string>>) => {
    const { client, visitor, hint } = await signedIn(site());
    const page = await confirm(visitor, await toLogout(visitor, parameters(hint)));
    expect([page.status, page.headers.get('location')]).toEqual([200, null]);
    expect(page.text).toContain('You are signed out');
    await expectSession(client, visitor, false);
  };

  /** Expects that an address is not followed, also when the person signs out. */
  const notFollowed = async (post_logout_redirect_uri: string) => {
    const { client, visitor, hint } = await signedIn(site());
    const usual = { id_token_hint: hint, state: 'a' };
    const page = await toLogout(visitor, { ...usual, post_logout_redirect_uri });
    const last = await confirm(visitor, page);
    for (const { status, headers } of [page, last]) {
      expect([status, headers.get('location')]).toEqual([200, null]);
    }
    await expectSession(client, visitor, false);
  };

  /** Expects that the request is refused with a page, and the person stays signed in. */
  const refused = async (parameters: (hint: string) => Readonly<Record<string, string>>) => {
    const { client, visitor, hint } = await signedIn(site());
    const usual = { id_token_hint: hint, post_logout_redirect_uri: AFTER_LOGOUT, state: 'a' };
    const page = await toLogout(visitor, { ...usual, ...parameters(hint) });
    expect([page.status, page.headers.get('location')]).toEqual([400, null]);
    expect(page.text).toContain('invalid_request');
    await expectSession(client, visitor, true);
  };

  return {
    async 'oidcc-rp-initiated-logout-discovery-endpoint-verification'() {
      const { pair } = site();
      expect(await metadataOf(site())).toMatchObject({
        issuer: pair.issuer,
        end_session_endpoint: `${pair.issuer}/session/end`,
      });
    },

    'oidcc-rp-initiated-logout': () => returns(randomUUID()),
    'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri': () =>
      notFollowed('https://other.example/bye'),
    'oidcc-rp-initiated-logout-modified-id-token-hint': () =>
      refused((hint) => ({ id_token_hint: withOtherSignature(hint) })),

    async 'oidcc-rp-initiated-logout-no-id-token-hint'() {
      const { client, visitor } = await signedIn(site());
      const page = await toLogout(visitor, { post_logout_redirect_uri: AFTER_LOGOUT, state: 'a' });
      expect(page.headers.get('location')).toBeNull();
      await expectSession(client, visitor, true);
    },

    'oidcc-rp-initiated-logout-no-params': () => staysHere(() => ({})),
    'oidcc-rp-initiated-logout-no-post-logout-redirect-uri': () =>
      staysHere((id_token_hint) => ({ id_token_hint, state: 'a' })),
    'oidcc-rp-initiated-logout-no-state': () => returns(undefined),
    'oidcc-rp-initiated-logout-only-state': () => staysHere(() => ({ state: 'a' })),
    'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri': () =>
      notFollowed(`${AFTER_LOGOUT}?extra=1`),
    'oidcc-rp-initiated-logout-bad-id-token-hint': () =>
      refused(() => ({ id_token_hint: 'no JWT' })),
  };
};

/** Returns the token with another first character of the signature. */
function withOtherSignature(token: string): string {
  const at = token.lastIndexOf('.') + 1;
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
}

/** An application that records the requests to its logout URL. */
async function startApplication() {
  const requests: { readonly type: string | undefined; readonly form: URLSearchParams }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const type = request.headers['content-type'];
      requests.push({ type, form: new URLSearchParams(body) });
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/backchannel_logout`,
    requests,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The modules of the plan Back-Channel Logout. */
export const backChannelSteps = (site: () => OidcSite) => ({
  async 'oidcc-backchannel-logout-discovery-endpoint-verification'() {
    expect(await metadataOf(site())).toMatchObject({
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    });
  },

  async 'oidcc-backchannel-rp-initiated-logout'() {
    using application = await startApplication();
    const { pair } = site();
    const registered = await addSuiteClient(pair, '--logout-url', application.url);
    const { client, visitor, hint, claims } = await signedIn(site(), registered);
    const usual = { id_token_hint: hint, post_logout_redirect_uri: AFTER_LOGOUT, state: 'a' };
    const back = await confirm(visitor, await toLogout(visitor, usual));
    expect(back.headers.get('location')).toBe(`${AFTER_LOGOUT}?state=a`);
    await until(() => application.requests.length > 0);
    await expectSession(client, visitor, false);
    const [request] = application.requests;
    expect(application.requests).toHaveLength(1);
    expect(request?.type).toContain('application/x-www-form-urlencoded');
    const keys = (await (await fetch(`${pair.issuer}/jwks`)).json()) as JSONWebKeySet;
    const { payload } = await jwtVerify(
      request?.form.get('logout_token') ?? '',
      createLocalJWKSet(keys),
      {
        issuer: pair.issuer,
        audience: registered.id,
        algorithms: ['RS256'],
        typ: 'logout+jwt',
        requiredClaims: ['iat', 'exp', 'jti'],
      },
    );
    expect(payload).toMatchObject({
      sub: claims.sub,
      sid: claims['sid'],
      events: { [EVENT]: {} },
    });
    expect(claims['sid']).toEqual(expect.any(String));
    expect(payload).not.toHaveProperty('nonce');
  },
});
