import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { basic, DOCUMENTS, SECRET } from '../authz.fixture.ts';
import { sent, testFlow } from '../code-flow.fixture.ts';
import type { TestFlow } from '../code-flow.fixture.ts';

const SCOPES = { safe: ['documents:read'], unsafe: ['documents:write'] };
const space = (name: string, more = {}) => ({
  url: `https://api.example/${name}/`,
  realm: name,
  schemes: ['Bearer'],
  scopes: SCOPES,
  ...more,
});
const SPACES = [
  space('documents'),
  space('hidden', { hide: 'forbidden' }),
  space('foreign', { scopes: { safe: ['foreign'] } }),
  ...Array.from({ length: 150 }, (_, at) => space(`space-${at}`)),
];

describe('`audience` in place of `resource`', () => {
  const form = { grant_type: 'client_credentials' };
  let flow: TestFlow;
  beforeAll(async () => {
    flow = await testFlow();
  });
  afterAll(async () => {
    await flow[Symbol.asyncDispose]();
  });

  test('names the resource of a machine and of an authorization request', async () => {
    const audience = DOCUMENTS;
    const machine = await flow.post('/token', { ...form, audience }, basic('app', SECRET));
    const answer = await flow.allow(await flow.signedIn(), { audience });
    const person = await flow.redeem(answer.get('code') ?? '');
    for (const { status, body } of [machine, person]) {
      expect([status, decodeJwt(String(body['access_token'])).aud]).toEqual([200, DOCUMENTS]);
    }
  });

  test.each([
    ['https://elsewhere.example/', 'this client may not name this resource; it may name '],
    ['documents', 'resource indicator must be an absolute URI: send the URL of a space'],
  ])('the unknown audience %s is refused, never ignored', async (audience, description) => {
    const { status, body } = await flow.post('/token', { ...form, audience }, basic('app', SECRET));
    expect([status, body['error']]).toEqual([400, 'invalid_target']);
    expect(body['error_description']).toContain(description);
  });

  test('two of them are refused', async () => {
    const twice: [string, string][] = [
      ...Object.entries(form),
      ['audience', 'a'],
      ['audience', 'b'],
    ];
    const { body } = await flow.post('/token', twice, basic('app', SECRET));
    expect(body['error_description']).toBe('audience is there twice: send it once');
  });

  test('`resource` decides beside it, and an empty one is as none', async () => {
    for (const more of [{ audience: 'x', resource: DOCUMENTS }, { audience: '' }]) {
      const { body } = await flow.post('/token', { ...form, ...more }, basic('app', SECRET));
      expect(decodeJwt(String(body['access_token'])).aud).toBe(DOCUMENTS);
    }
  });

  test('a code and a refresh token of one resource are refused with another audience', async () => {
    const { code = '' } = Object.fromEntries(await flow.allow(await flow.signedIn()));
    const refused = await flow.redeem(code, { audience: 'https://rsa.example/' });
    const { refresh_token: token } = await flow.tokens();
    const again = await flow.refresh(String(token), { audience: 'https://rsa.example/' });
    for (const { status, body } of [refused, again]) {
      expect([status, body['error']]).toEqual([400, 'invalid_target']);
    }
    const { refresh_token: other } = await flow.tokens();
    const right = await flow.refresh(String(other), { audience: DOCUMENTS });
    expect(decodeJwt(String(right.body['access_token'])).aud).toBe(DOCUMENTS);
  });

  test('it chooses among several resources of a grant', async () => {
    const spaces = [space('documents'), space('notes'), space('photos')];
    await using several = await testFlow({ spaces });
    const browser = await several.signedIn();
    const [first, second, third] = spaces.map(({ url }) => url);
    const asked = several.authorize({ resource: String(first) });
    const page = await browser.open(`${asked}&resource=${encodeURIComponent(String(second))}`);
    const answer = sent(await browser.submit(page, { decision: 'allow' }));
    const redeemed = await several.redeem(answer.get('code') ?? '', { audience: String(second) });
    expect(decodeJwt(String(redeemed.body['access_token'])).aud).toBe(second);
    const token = String(redeemed.body['refresh_token']);
    const { status, body } = await several.refresh(token, { audience: String(third) });
    expect([status, body['error']]).toEqual([400, 'invalid_target']);
  });

  test('in the query of a request with a form it is ignored, as every parameter there is', async () => {
    const { status } = await flow.post(
      '/token?audience=https://elsewhere.example/',
      form,
      basic('app', SECRET),
    );
    expect(status).toBe(200);
  });
});

describe('RFC 8707 section 2: a resource by another spelling of its name', () => {
  let flow: TestFlow;
  beforeAll(async () => {
    flow = await testFlow();
  });
  afterAll(async () => {
    await flow[Symbol.asyncDispose]();
  });

  test.each([
    'HTTPS://API.EXAMPLE/documents/',
    'https://api.example:443/documents/',
    'https://api.example/documents',
  ])('with %s the tokens are for the space, and another spelling may follow', async (resource) => {
    const answer = await flow.allow(await flow.signedIn(), { resource });
    const first = await flow.redeem(answer.get('code') ?? '', { resource: DOCUMENTS });
    const token = String(first.body['refresh_token']);
    const second = await flow.refresh(token, { resource });
    for (const { status, body } of [first, second]) {
      expect([status, body['scope']]).toEqual([200, 'openid documents:read']);
      expect(decodeJwt(String(body['access_token'])).aud).toBe(DOCUMENTS);
    }
  });

  test('a machine gets a token with another spelling, too', async () => {
    const form = { grant_type: 'client_credentials', resource: 'HTTPS://api.example/documents' };
    const { status, body } = await flow.post('/token', form, basic('app', SECRET));
    expect([status, decodeJwt(String(body['access_token'])).aud]).toEqual([200, DOCUMENTS]);
  });

  test('the person is asked once for all spellings', async () => {
    const browser = await flow.signedIn();
    await flow.allow(browser, { resource: 'https://api.example/documents', client_id: 'server' });
    const page = await browser.open(flow.authorize({ resource: DOCUMENTS, client_id: 'server' }));
    expect(sent(page).get('code')).toEqual(expect.any(String));
  });
});

describe('RFC 8707 section 2: the text of invalid_target', () => {
  const resource = 'https://evil.example/';
  const targets = (text: string | null | undefined) => text?.match(/https?:\/\/[^ ,?]+/g) ?? [];
  const atAuth = async (flow: TestFlow, name = resource) =>
    sent(await flow.browser().request('GET', flow.authorize({ resource: name })));
  const byMachine = async (flow: TestFlow, name = resource) => {
    const form = { grant_type: 'client_credentials', resource: name };
    return flow.post('/token', form, basic('app', SECRET));
  };

  test('in production the text names no spaces to an unauthenticated client, and three spaces to an authenticated one', async () => {
    const production = { issuer: 'https://auth.example', resource: 'https://api.example' };
    await using flow = await testFlow({ ...production, spaces: SPACES });
    const answer = await atAuth(flow);
    expect(answer.get('error')).toBe('invalid_target');
    expect(targets(answer.get('error_description'))).toEqual([]);
    const refresh = await flow.post('/device/auth', { client_id: 'tv', resource });
    expect(targets(String(refresh.body['error_description']))).toEqual([]);
    const { body } = await byMachine(flow);
    expect(body['error']).toBe('invalid_target');
    expect(targets(String(body['error_description']))).toHaveLength(3);
  });

  test('the text names at most three spaces that the client may use, and no hidden space', async () => {
    await using flow = await testFlow({ spaces: SPACES });
    for (const name of [
      'urn:x',
      'https://evil.example/',
      `https://api.example/${'x'.repeat(5000)}`,
    ]) {
      const { body } = await byMachine(flow, name);
      const told = [(await atAuth(flow, name)).get('error_description'), body['error_description']];
      for (const text of told) {
        expect(String(text).length).toBeLessThan(300);
        expect(targets(String(text))).toEqual([
          'https://api.example/documents/',
          'https://api.example/space-0/',
          'https://api.example/space-1/',
        ]);
      }
    }
  });

  test('the text names the space with the most similar address', async () => {
    await using flow = await testFlow({ spaces: SPACES });
    const { body } = await byMachine(flow, 'https://api.example/document/');
    expect(body['error_description']).toContain(`did you mean ${DOCUMENTS}?`);
    for (const near of ['https://api.example/hiden/', 'https://api.example/foreing/']) {
      expect((await byMachine(flow, near)).body['error_description']).not.toMatch(/hidden|foreign/);
    }
  });
});
