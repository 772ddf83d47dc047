import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import type { JSONWebKeySet } from 'jose';
import { systemClock } from '#shared/base/clock.ts';
import { removeConsents } from '#shared/people/access/consents.ts';
import { DOCUMENTS } from '../authz.fixture.ts';
import { CALLBACK, sent, testFlow, VERIFIER, WEB } from '../code-flow.fixture.ts';
import type { TestFlow } from '../code-flow.fixture.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

let flow: TestFlow;
let browser: TestBrowser;

beforeAll(async () => {
  flow = await testFlow();
  browser = await flow.signedIn();
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
});

type Parameters = Readonly<Record<string, string>>;

/** Sends one request of a person who is not signed in. */
const ask = (parameters: Parameters) => flow.browser().request('GET', flow.authorize(parameters));

const isInteraction = (page: Page) =>
  /^(?:http:\/\/localhost:3000)?\/interaction\/[\w-]+$/.test(page.headers.get('location') ?? '');

describe('RFC 6749 section 4.1.2.1: errors of the request go to the client', () => {
  test.each<[string, Parameters, string]>([
    [
      'no PKCE (RFC 7636 section 4.4.1)',
      { code_challenge: '', code_challenge_method: '' },
      'invalid_request',
    ],
    [
      'a plain challenge',
      { code_challenge: VERIFIER, code_challenge_method: 'plain' },
      'invalid_request',
    ],
    [
      'a challenge without method, which means plain',
      { code_challenge_method: '' },
      'invalid_request',
    ],
    ['a method without challenge', { code_challenge: '' }, 'invalid_request'],
    ['a short challenge', { code_challenge: 'abc' }, 'invalid_request'],
    ['an unknown method', { code_challenge_method: 's256' }, 'invalid_request'],
    ['the implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
    [
      'the hybrid flow',
      { response_type: 'code id_token', nonce: 'n' },
      'unsupported_response_type',
    ],
    ['no response_type', { response_type: '' }, 'invalid_request'],
    ['an unknown response_mode', { response_mode: 'web_message' }, 'unsupported_response_mode'],
    ['a request object', { request: 'e30.e30.' }, 'request_not_supported'],
    [
      'a request_uri elsewhere',
      { request_uri: 'https://evil.example/' },
      'request_uri_not_supported',
    ],
    ['registration', { registration: '{}' }, 'registration_not_supported'],
    ['an unknown prompt', { prompt: 'unheard-of' }, 'invalid_request'],
    ['prompt none with another value', { prompt: 'none login' }, 'invalid_request'],
    ['a negative max_age', { max_age: '-1' }, 'invalid_request'],
    ['a max_age that is no number', { max_age: 'soon' }, 'invalid_request'],
    ['an invalid id_token_hint', { id_token_hint: 'x' }, 'invalid_request'],
    ['a scope with a quote', { scope: 'a"b' }, 'invalid_scope'],
    ['an unknown scope', { scope: 'admin' }, 'invalid_scope'],
    [
      'access that outlives the session, to nothing',
      { scope: 'offline_access', prompt: 'consent' },
      'invalid_scope',
    ],
    ['an unknown resource', { resource: 'https://evil.example/' }, 'invalid_target'],
    ['a resource that is no URI', { resource: 'documents' }, 'invalid_target'],
    ['a resource with a fragment', { resource: `${DOCUMENTS}#a` }, 'invalid_target'],
    [
      'a scope of another resource',
      { scope: 'documents:read', resource: 'https://rsa.example/' },
      'invalid_scope',
    ],
  ])('the request has this error: %s', async (_what, parameters, error) => {
    const answer = sent(await ask(parameters));
    expect(answer.get('error')).toBe(error);
    expect(answer.get('state')).toBe('the state');
    expect(answer.get('iss')).toBe(flow.config.issuer);
    expect(answer.get('code')).toBeNull();
  });

  test('a repeated parameter is invalid_request', async () => {
    for (const name of ['scope', 'state', 'code_challenge', 'response_type', 'prompt']) {
      const page = await flow.browser().request('GET', `${flow.authorize()}&${name}=b`);
      expect(page.status === 400 || sent(page).get('error') === 'invalid_request').toBe(true);
      expect(page.headers.get('location') ?? '').not.toContain('code=');
    }
  });

  test('a refusal of the scope lists the valid scopes', async () => {
    const description = sent(await ask({ scope: 'everything' })).get('error_description');
    expect(description).toContain('documents:read');
    expect(description).not.toContain('rsa');
  });
});

describe('RFC 9700 section 4.1.3: redirect URIs are compared exactly', () => {
  test.each([
    'https://app.example/callback/',
    'https://app.example/callbac',
    'https://app.example/callback/../callback',
    'https://app.example/Callback',
    'https://APP.example/callback',
    'HTTPS://app.example/callback',
    'http://app.example/callback',
    'https://app.example:443/callback',
    'https://app.example:8443/callback',
    'https://app.example./callback',
    'https://app.example/callback?a=b',
    'https://app.example/callback?',
    'https://app.example/callback#',
    'https://app.example/callback#a',
    'https://user@app.example/callback',
    'https://app.example@evil.example/callback',
    'https://app.example/%63allback',
    'https://app.example/callback%00',
    'https://app.example\\callback',
    'https://evil.example/https://app.example/callback',
    'https://app.example.evil.example/callback',
    '//app.example/callback',
    'javascript:alert(1)',
    'data:text/html,x',
    ' https://app.example/callback',
    'https://app.example/callback ',
    '\u0000',
    'https://xn--pp-8ia.example/callback',
  ])('%s is refused, and the browser is not sent there', async (redirect_uri) => {
    // An error elsewhere in the request must not be sent to that URI either.
    for (const more of [{}, { response_type: 'token' }, { prompt: 'none' }]) {
      const page = await ask({ redirect_uri, ...more });
      expect(page.status).toBe(400);
      expect(page.headers.get('location')).toBeNull();
      expect(page.text).toContain('invalid_redirect_uri');
    }
  });

  test.each([
    ['no redirect URI, if the client has several', { client_id: 'native', redirect_uri: '' }],
    ['an unknown client', { client_id: 'nobody' }],
    ['no client', { client_id: '' }],
    ['a client without redirect URIs', { client_id: 'tv' }],
    ['a redirect URI of another client', { client_id: 'native' }],
  ])(
    'a malformed or unknown redirect URI is refused: %s',
    async (_what, parameters: Parameters) => {
      const page = await ask(parameters);
      expect([page.status, page.headers.get('location')]).toEqual([400, null]);
    },
  );

  test.each([CALLBACK, 'https://evil.example/'])(
    'two redirect_uri parameters lead to the only registered URI, or to an error page',
    async (uri) => {
      for (const url of [
        `${flow.authorize()}&redirect_uri=${encodeURIComponent(uri)}`,
        `/auth?redirect_uri=${encodeURIComponent(uri)}&${flow.authorize().split('?')[1]}`,
      ]) {
        const page = await flow.browser().request('GET', url);
        const location = page.headers.get('location');
        if (location === null) expect(page.status).toBe(400);
        else expect(location).toMatch(/^https:\/\/app\.example\/callback\?error=invalid_request&/);
      }
    },
  );

  test('without redirect_uri the only registered URI is used (RFC 6749 section 3.1.2.3)', async () => {
    const answer = await ask({ redirect_uri: '', prompt: 'none' });
    expect(answer.headers.get('location')).toMatch(/^https:\/\/app\.example\/callback\?error=/);
  });

  test.each([
    ['http://127.0.0.1:51004/callback', true],
    ['com.example.app:/callback', true],
    ['http://127.0.0.1:51004/callback/', false],
    ['http://localhost:51004/callback', false],
    ['http://127.0.0.1.evil.example:1/callback', false],
    ['http://127.0.0.2/callback', false],
    ['https://127.0.0.1/callback', false],
    ['com.example.app:/callback/', false],
    ['com.example.app:8080/callback', false],
  ])('RFC 8252 section 7.3: a native client may use any loopback port: %s', async (uri, taken) => {
    const page = await ask({ client_id: 'native', redirect_uri: uri });
    expect([page.status, isInteraction(page)]).toEqual(taken ? [303, true] : [400, false]);
  });
});

describe('RFC 6749 section 3.3: scope', () => {
  test('without scope the default scopes are asked for, without access that outlives the session', async () => {
    const page = await browser.open(flow.authorize({ scope: '', prompt: 'consent' }));
    const consent = page.forms.find(({ action }) => action.endsWith('/consent'));
    const items = consent?.fields.filter(([name]) => name === 'item').map(([, value]) => value);
    expect(items).toEqual([`${DOCUMENTS} documents:read`]);
  });

  test('unknown scopes are ignored, and the answer lists the granted scopes (section 5.1)', async () => {
    const body = await flow.tokens({ scope: 'openid documents:read documents:fly rsa' });
    expect(body['scope']).toBe('openid documents:read');
    expect(decodeJwt(String(body['access_token']))['scope']).toBe('documents:read');
  });

  test('a scope of OpenID Connect that the client may not request is ignored', async () => {
    const client = { ...WEB, client_id: 'plain', scope: 'documents:read' };
    await flow.stores.clients.add(client);
    const answer = sent(await ask({ client_id: 'plain', scope: 'openid documents:read' }));
    expect(answer.get('error')).toBe('invalid_scope');
    expect(answer.get('error_description')).toBe(
      'this client may not ask for openid; it may ask for: documents:read',
    );
  });

  test('OpenID Connect Core 1.0 section 11: offline_access alone is refused, and the answer lists other scopes only', async () => {
    const answer = sent(await ask({ scope: 'offline_access', prompt: 'consent' }));
    expect(answer.get('error')).toBe('invalid_scope');
    const told = answer.get('error_description') ?? '';
    expect(told).toMatch(/^this client may ask for: .*documents:read/);
    expect(told).not.toContain('offline_access');
  });

  test.each(['', 'consent'])(
    'OpenID Connect Core 1.0 section 11: offline_access is ignored if the client may not have it, prompt=%s',
    async (prompt) => {
      const client_id = `online ${prompt}`;
      await flow.stores.clients.add({ ...WEB, client_id, scope: 'openid documents:read' });
      const scope = 'openid documents:read offline_access';
      const other = await flow.signedIn();
      const asked = await other.open(flow.authorize({ client_id, scope, prompt }));
      expect(asked.status).toBe(200);
      expect(asked.forms.flatMap(({ fields }) => fields).flat()).not.toContain('offline_access');
      const code = (await flow.allow(other, { client_id, scope, prompt })).get('code') ?? '';
      const { body } = await flow.redeem(code, { client_id });
      expect(body['scope']).toBe('openid documents:read');
    },
  );

  test('RFC 8707 section 2: the token is for the requested resource', async () => {
    const body = await flow.tokens({ scope: 'documents:write', resource: DOCUMENTS });
    expect(decodeJwt(String(body['access_token']))).toMatchObject({
      aud: DOCUMENTS,
      scope: 'documents:write',
    });
  });
});

test('RFC 8707 section 2.2: each token is for one of the granted resources', async () => {
  const rsa = 'https://rsa.example';
  const many = { ...WEB, client_id: 'many', scope: 'documents:read rsa' };
  await flow.stores.clients.add(many);
  const asked = `${flow.authorize({ client_id: 'many', scope: 'documents:read rsa' })}&resource=${DOCUMENTS}&resource=${rsa}`;
  const code = sent(await browser.submit(await browser.open(asked), { decision: 'allow' })).get(
    'code',
  );
  const first = await flow.redeem(code ?? '', { client_id: 'many' });
  expect(decodeJwt(String(first.body['access_token']))).toMatchObject({
    aud: DOCUMENTS,
    scope: 'documents:read',
  });
  const form = { client_id: 'many', resource: rsa };
  const second = await flow.refresh(String(first.body['refresh_token']), form);
  expect(decodeJwt(String(second.body['access_token']))).toMatchObject({
    aud: `${rsa}/`,
    scope: 'rsa',
  });
});

test('without resource the token is for the first resource that has all requested scopes, apart from those of OpenID Connect', async () => {
  const client = {
    ...WEB,
    client_id: 'second',
    scope: 'openid profile rsa',
    default_scope: 'openid rsa',
  };
  await flow.stores.clients.add(client);
  for (const scope of ['openid rsa', 'openid profile rsa', 'rsa', '']) {
    const answer = await flow.allow(browser, { client_id: 'second', scope });
    const { body } = await flow.redeem(answer.get('code') ?? '', { client_id: 'second' });
    expect(decodeJwt(String(body['access_token']))['aud']).toBe('https://rsa.example/');
  }
});

test.each([
  ['query', 'https://app.example/callback?'],
  ['fragment', 'https://app.example/callback#'],
])(
  'RFC 9207 section 2: with response_mode=%s the answer has the issuer',
  async (response_mode, start) => {
    const one = await flow.signedIn();
    await flow.allow(one);
    const page = await one.open(flow.authorize({ response_mode }));
    expect(page.headers.get('location')?.slice(0, start.length)).toBe(start);
    const answer = Object.fromEntries(sent(page));
    expect(answer).toEqual({
      code: expect.any(String),
      state: 'the state',
      iss: flow.config.issuer,
    });
  },
);

describe('OpenID Connect Core 1.0 section 3.1.2.1: prompt and max_age', () => {
  test('prompt=none: login_required, then consent_required, then a code', async () => {
    const nobody = sent(await ask({ prompt: 'none' }));
    expect([nobody.get('error'), nobody.get('state')]).toEqual(['login_required', 'the state']);
    const { stores, accountId } = flow;
    const store = { stores, clock: systemClock, longestLife: 605 };
    await removeConsents(store, accountId, () => true);
    const one = await flow.signedIn();
    const silently = async () =>
      sent(await one.open(flow.authorize({ prompt: 'none', scope: 'documents:read' })));
    expect((await silently()).get('error')).toMatch(/^(?:consent|interaction)_required$/);
    await flow.allow(one, { scope: 'documents:read' });
    expect((await silently()).get('code')).toEqual(expect.any(String));
  });

  test('a native client is never answered silently (RFC 8252 section 8.6)', async () => {
    const native = { client_id: 'native', redirect_uri: 'http://127.0.0.1:1/callback' };
    await flow.allow(browser, native);
    const answer = sent(await browser.open(flow.authorize({ ...native, prompt: 'none' })));
    expect(answer.get('error')).toBe('interaction_required');
  });

  test.each([{ prompt: 'login' }, { max_age: '0' }])(
    '%j makes the person sign in again',
    async (more) => {
      const page = await browser.open(flow.authorize(more));
      expect(page.forms.map(({ action }) => action)).toEqual(
        expect.arrayContaining([expect.stringMatching(/^\/interaction\/[\w-]+\/login$/)]),
      );
    },
  );

  /** Returns the names in the first column of a section of the page about claims. */
  async function namesOf(title: string): Promise<ReadonlySet<string>> {
    const page = await readFile('docs/reference/scopes-and-claims.md', 'utf8');
    const [, section = ''] = page.split(`\n${title}\n`);
    const [own = ''] = section.split('\n## ');
    return new Set([...own.matchAll(/^\| `(\w+)` /gm)].map(([, name = '']) => name));
  }

  test('the tokens say how and when the person signed in (RFC 9068 section 2.2.1)', async () => {
    const { access_token, id_token } = await flow.tokens({ max_age: '3600', nonce: 'the nonce' });
    const claims = decodeJwt(String(access_token));
    expect(claims).toMatchObject({
      sub: flow.accountId,
      client_id: 'web',
      acr: 'urn:countersign:acr:password',
      auth_time: expect.any(Number),
      sub_gen: 0,
      grant_id: expect.any(String),
    });
    expect(decodeJwt(String(id_token))).toMatchObject({
      sub: flow.accountId,
      aud: 'web',
      nonce: 'the nonce',
      acr: claims['acr'],
      amr: ['pwd'],
      auth_time: claims['auth_time'],
    });
    for (const [title, token] of [
      ['## Access tokens', access_token],
      ['## ID tokens', id_token],
    ] as const) {
      const documented = await namesOf(title);
      const undocumented = Object.keys(decodeJwt(String(token))).filter(
        (claim) => !documented.has(claim),
      );
      expect(undocumented).toEqual([]);
    }
  });

  test('OpenID Connect Registration 1.0 section 2: RS256 signs the ID tokens of a client that is registered with RS256', async () => {
    const id = { client_id: 'classic' };
    await flow.stores.clients.add({ ...WEB, ...id, id_token_signed_response_alg: 'RS256' });
    const code = (await flow.allow(await flow.signedIn(), id)).get('code') ?? '';
    const { body } = await flow.redeem(code, id);
    const keys = createLocalJWKSet(
      (await (await fetched(`${flow.url}/jwks`)).json()) as JSONWebKeySet,
    );
    const { protectedHeader } = await jwtVerify(String(body['id_token']), keys, {
      issuer: flow.config.issuer,
      audience: 'classic',
    });
    expect(protectedHeader.alg).toBe('RS256');
  });

  test('ID tokens are signed with ES256 unless the client is registered with another algorithm', async () => {
    expect(WEB).not.toHaveProperty('id_token_signed_response_alg');
    const { id_token } = await flow.tokens();
    expect(decodeProtectedHeader(String(id_token)).alg).toBe('ES256');
  });

  test('an id_token_hint of another client is refused, and a hint of another person makes the server ask for a sign-in', async () => {
    const answer = sent(await ask({ id_token_hint: 'e30.e30.e30' }));
    expect(answer.get('error')).toBe('invalid_request');
  });
});
