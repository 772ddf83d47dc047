import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { Page, TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import type { Person } from '../pair/pair.ts';
import { addPeopleClient, CALLBACK, CODE_GRANTS } from '../pair/people-client.ts';
import { startFlowOn, STORE_KINDS } from './flow.ts';
import type { Flow } from './flow.ts';
import { accesses, addDevice, alsoAt, App, asksToSignIn, browserAt, CHALLENGE } from './person.ts';
import { INVALID_GRANT, newPerson, post, refusal, sent, signedIn, signIn } from './person.ts';
import { tenTimes, tokensIn, VERIFIER } from './person.ts';
import type { Parameters } from './person.ts';

/**
 * Addresses that differ slightly from the registered `CALLBACK` (RFC 9700 section 2.1: exact comparison).
 */
const NEAR_MISSES: readonly (readonly [what: string, uri: string])[] = [
  ['a trailing slash', `${CALLBACK}/`],
  ['a shorter path', CALLBACK.slice(0, -1)],
  ['a dot segment', 'https://app.example/x/../callback'],
  ['an encoded dot segment', 'https://app.example/%2e/callback'],
  ['a double slash', 'https://app.example//callback'],
  ['a path parameter', `${CALLBACK};a`],
  ['another case of the path', 'https://app.example/Callback'],
  ['another case of the host', 'https://APP.example/callback'],
  ['another case of the scheme', 'HTTPS://app.example/callback'],
  ['the default port', 'https://app.example:443/callback'],
  ['another port', 'https://app.example:8443/callback'],
  ['an empty port', 'https://app.example:/callback'],
  ['a fragment', `${CALLBACK}#a`],
  ['an empty fragment', `${CALLBACK}#`],
  ['userinfo', 'https://a@app.example/callback'],
  ['the host as userinfo', 'https://app.example@evil.example/callback'],
  ['a backslash', 'https://app.example\\@evil.example/callback'],
  ['a trailing dot', 'https://app.example./callback'],
  ['the host as a label', 'https://app.example.evil.example/callback'],
  ['a subdomain', 'https://x.app.example/callback'],
  ['percent-encoding', 'https://app.example/%63allback'],
  ['an encoded host', 'https://app%2eexample/callback'],
  ['a query', `${CALLBACK}?a=b`],
  ['an empty query', `${CALLBACK}?`],
  ['another scheme', 'http://app.example/callback'],
  ['a NUL after', `${CALLBACK}\0`],
  ['a line break', `${CALLBACK}\r\nSet-Cookie: a=b`],
  ['a script', 'javascript:alert(1)//https://app.example/callback'],
  ['data', 'data:text/html,https://app.example/callback'],
  ['no scheme', '//app.example/callback'],
  ['a path alone', '/callback'],
  ['two of them', `${CALLBACK} ${CALLBACK}`],
];

describe.each(STORE_KINDS)('on %s: the authorization server refuses', (kind) => {
  let flow: Flow;
  let app: App;
  let person: Person;
  /** A signed-in person has allowed `app` everything, so that a request is answered at once. */
  let browser: TestBrowser;

  beforeAll(async () => {
    flow = await startFlowOn(kind, { authz: 2 });
    app = await App.add(flow);
    person = await newPerson(flow);
    browser = await signedIn(flow, person);
    await app.allow(browser, { scope: 'openid documents:read documents:write' });
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  const ask = (parameters: Parameters, one = browser) => one.request('GET', app.url(parameters));
  const isLive = async (token: string) => (await flow.pair.get(token)) === 200;

  /** Expects an error by redirect, with the client's state and with iss (RFC 9207 section 2). */
  function expectTold(page: Page, error: string): void {
    const location = page.headers.get('location') ?? '';
    const [start, parameters] = location.split(/[?#]/);
    expect([start, Object.fromEntries(new URLSearchParams(parameters))]).toEqual([
      CALLBACK,
      expect.objectContaining({ error, state: 'the state', iss: flow.pair.issuer }),
    ]);
    expect(location).not.toContain('code=');
  }

  /** Expects an error page without a redirect (RFC 6749 section 4.1.2.1). */
  function expectPage({ status, headers, text }: Page): void {
    expect([status, headers.get('location')]).toEqual([400, null]);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(text).not.toMatch(/http-equiv="?refresh/i);
  }

  describe('RFC 7636 section 4: PKCE', () => {
    test.each<[string, Parameters]>([
      ['section 4.4.1: a request without PKCE', { code_challenge: '', code_challenge_method: '' }],
      ['a method without a challenge', { code_challenge: '' }],
      ['the method plain', { code_challenge: VERIFIER, code_challenge_method: 'plain' }],
      ['section 4.3: no method, which means plain', { code_challenge_method: '' }],
      ['a method in small letters', { code_challenge_method: 's256' }],
      ['a challenge that is too short', { code_challenge: CHALLENGE.slice(1) }],
      ['a challenge of other characters', { code_challenge: `${CHALLENGE.slice(1)}+` }],
    ])('%s is refused with invalid_request', async (_what, parameters) => {
      expectTold(await ask(parameters), 'invalid_request');
      const pushed = await post(flow, '/request', Object.fromEntries(app.request(parameters)));
      expect(refusal(pushed)).toEqual([400, 'invalid_request']);
    });

    test.each<[string, string]>([
      ['a wrong verifier', 'w'.repeat(43)],
      ['the challenge as verifier', CHALLENGE],
      ['a longer verifier', `${VERIFIER}v`],
      ['a verifier that is too short', 'v'.repeat(42)],
      ['a verifier that is too long', 'v'.repeat(129)],
      ['a verifier of other characters', `${VERIFIER} `],
      ['an empty verifier', ''],
    ])('section 4.6: %s gets no token', async (_what, code_verifier) => {
      const answer = await app.redeem(await app.code(browser), { code_verifier }, {}, 1);
      expect(answer.status).toBe(400);
      expect(['invalid_grant', 'invalid_request']).toContain(answer.body['error']);
      expect(answer.body).not.toHaveProperty('access_token');
    });

    test('section 4.5: a missing verifier gets invalid_grant', async () => {
      const code = await app.code(browser);
      const form = { grant_type: 'authorization_code', client_id: app.id, code };
      const answer = await post(flow, '/token', { ...form, redirect_uri: CALLBACK });
      expect(refusal(answer)).toEqual(INVALID_GRANT);
    });
  });

  describe('RFC 9700 section 2.1: a redirect URI that is nearly the registered one', () => {
    test.each(NEAR_MISSES)('refused everywhere: %s', async (_what, redirect_uri) => {
      expectPage(await ask({ redirect_uri }));
      expectPage(await ask({ redirect_uri, prompt: 'none' }, browserAt(flow)));
      const request = Object.fromEntries(app.request({ redirect_uri }));
      const pushed = await post(flow, '/request', request, {}, 1);
      expect(refusal(pushed)).toEqual([400, 'invalid_request']);
    });

    test('a near miss at the token endpoint (RFC 6749 section 4.1.3)', async () => {
      for (const [what, redirect_uri] of NEAR_MISSES) {
        const answer = await app.redeem(await app.code(browser), { redirect_uri });
        expect([what, ...refusal(answer)]).toEqual([what, ...INVALID_GRANT]);
      }
    });

    test('an unknown client, and a client without a redirect URI', async () => {
      const device = await addDevice(flow);
      for (const client_id of ['', 'nobody', '__proto__', device, `${app.id} `, `${app.id}\0`]) {
        expectPage(await ask({ client_id }));
      }
    });
  });

  describe('a code (RFC 6749 section 4.1.3)', () => {
    test('for another client, while its own client can still use it', async () => {
      const thief = await App.add(flow);
      const code = await app.code(browser);
      expect(refusal(await thief.redeem(code))).toEqual(INVALID_GRANT);
      const { access } = tokensIn(await app.redeem(code));
      expect(decodeJwt(access)).toMatchObject({ client_id: app.id, sub: person.id });
    });

    test('section 4.1.2: if it is replayed, its tokens are refused by the next request', async () => {
      const own = await signedIn(flow, await newPerson(flow));
      const code = await app.code(own);
      const { access, refresh } = tokensIn(await app.redeem(code));
      expect(await isLive(access)).toBe(true);
      expect(refusal(await app.redeem(code, {}, {}, 1))).toEqual(INVALID_GRANT);
      expect(await isLive(access)).toBe(false);
      expect(refusal(await app.refresh(refresh))).toEqual(INVALID_GRANT);
    });

    test('section 4.1.2: if it is used ten times at once at two processes, at most one use succeeds, and its tokens are revoked', async () => {
      const somebody = await newPerson(flow);
      const own = await signedIn(flow, somebody);
      const code = await app.code(own);
      const answers = await tenTimes((server) => app.redeem(code, {}, {}, server));
      const given = answers.filter(({ status }) => status === 200).map(tokensIn);
      expect(given.length).toBeLessThanOrEqual(1);
      const refused = answers.filter(({ status }) => status !== 200).map(refusal);
      expect(refused).toEqual(refused.map(() => INVALID_GRANT));
      for (const { access, refresh } of given) {
        expect(await isLive(access)).toBe(false);
        expect(refusal(await app.refresh(refresh))).toEqual(INVALID_GRANT);
      }
      expect(await accesses(flow, somebody)).toEqual([]);
    });

    test.each([
      ['changed', (code: string) => (code.startsWith('A') ? 'B' : 'A') + code.slice(1)],
      ['without its last character', (code: string) => code.slice(0, -1)],
      ['with an additional character', (code: string) => `${code}A`],
      ['with a NUL', (code: string) => `${code}\0`],
      ['of 10,000 characters', () => 'c'.repeat(10_000)],
      ['named like a member of every object', () => '__proto__'],
    ])('a code gets invalid_grant: %s', async (_what, change) => {
      const answer = await app.redeem(change(await app.code(browser)));
      expect(refusal(answer)).toEqual(INVALID_GRANT);
    });
  });

  describe('a parameter (OpenID Connect Core 1.0 section 3.1.2.1)', () => {
    test('prompt=none: a browser without a session gets login_required, and a person without consent consent_required', async () => {
      expectTold(await ask({ prompt: 'none' }, browserAt(flow)), 'login_required');
      const stranger = await App.add(flow);
      const page = await browser.request('GET', stranger.url({ prompt: 'none' }));
      expectTold(page, 'consent_required');
      const another = await signedIn(flow, await newPerson(flow), 1);
      expectTold(await ask({ prompt: 'none' }, another), 'consent_required');
      expect(sent(await ask({ prompt: 'none' })).get('code')).toEqual(expect.any(String));
    });

    test('prompt=none after a sign-out, with the old cookies, gets login_required', async () => {
      const somebody = await newPerson(flow);
      const one = await signedIn(flow, somebody);
      await app.allow(one);
      const copy = alsoAt(flow, one, 1);
      await one.submit(await one.open('/sign-out'), { logout: 'yes' });
      expectTold(await ask({ prompt: 'none' }, copy), 'login_required');
    });

    test.each<[string, Parameters, string]>([
      [
        'prompt=none with max_age=0',
        { scope: 'openid', prompt: 'none', max_age: '0' },
        'login_required',
      ],
      ['prompt=none with another prompt', { prompt: 'none login' }, 'invalid_request'],
      ['an unknown prompt', { prompt: 'dance' }, 'invalid_request'],
      ['a negative max_age', { scope: 'openid', max_age: '-1' }, 'invalid_request'],
      ['a max_age that is no number', { scope: 'openid', max_age: 'soon' }, 'invalid_request'],
      ['an invalid id_token_hint', { id_token_hint: 'a.b.c' }, 'invalid_request'],
      ['a request object', { request: 'e30.e30.' }, 'request_not_supported'],
      ['an unknown scope', { scope: 'root' }, 'invalid_scope'],
      ['an unknown resource', { resource: 'https://evil.example/' }, 'invalid_target'],
      ['an unsupported response type', { response_type: 'token' }, 'unsupported_response_type'],
    ])('the client gets an error for %s', async (_what, parameters, error) => {
      expectTold(await ask(parameters), error);
    });

    test.each<[string, Parameters]>([
      ['max_age=0', { scope: 'openid documents:read', max_age: '0' }],
      ['prompt=login', { prompt: 'login' }],
    ])('%s gives no code without the password', async (_what, parameters) => {
      const page = await browser.open(app.url(parameters));
      expect(asksToSignIn(page)).toBe(true);
      const wrong = await browser.submit(page, { name: person.name, password: 'wrong horse' });
      expect([wrong.status, asksToSignIn(wrong)]).toEqual([422, true]);
      const code = sent(await signIn(browser, wrong, person)).get('code');
      tokensIn(await app.redeem(code ?? ''));
    });

    test('login_hint is shown as text only', async () => {
      const login_hint = `"><script>alert(1)</script>'><img src=x onerror=alert(1)>&lt;`;
      const page = await browserAt(flow).open(app.url({ login_hint }));
      expect(page.text).not.toMatch(/<script>|<img src=x/);
      expect(page.forms[0]?.fields).toContainEqual(['name', login_hint]);
    });
  });

  test.each([
    'client_id',
    'redirect_uri',
    'response_type',
    'scope',
    'state',
    'code_challenge',
    'prompt',
  ])('RFC 6749 section 3.1: %s given twice', async (name) => {
    const twice = `${app.url({ prompt: 'none' })}&${name}=x`;
    const page = await browser.request('GET', twice);
    const location = page.headers.get('location');
    if (location === null) expectPage(page);
    else expect(sent(page).get('error')).toBe('invalid_request');
  });

  test('RFC 9126 section 2.2: a request_uri belongs to its client, and is used once', async () => {
    const request = Object.fromEntries(app.request());
    const { status, body } = await post(flow, '/request', request);
    expect(status).toBe(201);
    const request_uri = String(body['request_uri']);
    const redirect = ['--redirect-uri', 'https://thief.example/back'];
    const { id: thief } = await addPeopleClient(flow.pair, '--public', ...CODE_GRANTS, ...redirect);
    const url = (client_id: string) =>
      `/auth?${new URLSearchParams({ client_id, request_uri }).toString()}`;
    const stolen = await browser.request('GET', url(thief));
    expect(stolen.headers.get('location')).toMatch(
      /^https:\/\/thief\.example\/back\?error=invalid_request_object&/,
    );
    const also = alsoAt(flow, browser, 1);
    expect(sent(await also.request('GET', url(app.id))).get('code')).toEqual(expect.any(String));
    const again = await browser.request('GET', url(app.id));
    expect(again.headers.get('location') ?? '').not.toContain('code=');
  });
});
