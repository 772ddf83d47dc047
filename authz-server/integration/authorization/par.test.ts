import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asApp, basic, SECRET } from '../authz.fixture.ts';
import { CALLBACK, sent, testFlow, VERIFIER, WEB } from '../code-flow.fixture.ts';
import type { TestFlow } from '../code-flow.fixture.ts';
import type { TestBrowser } from '../browser.fixture.ts';

const REQUEST = {
  client_id: 'web',
  response_type: 'code',
  redirect_uri: CALLBACK,
  scope: 'documents:read',
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
};

let flow: TestFlow;
let browser: TestBrowser;
beforeAll(async () => {
  flow = await testFlow();
  browser = await flow.signedIn();
  await flow.allow(browser, { scope: 'documents:read' });
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
});

async function push(form: Record<string, string> = {}): Promise<string> {
  const { status, body } = await flow.post('/request', { ...REQUEST, ...form });
  expect([status, body['expires_in']]).toEqual([201, 60]);
  return String(body['request_uri']);
}
const take = (request_uri: string, client_id = 'web') =>
  browser.request('GET', `/auth?${new URLSearchParams({ client_id, request_uri }).toString()}`);

describe('RFC 9126: pushed authorization requests', () => {
  test('section 4: a pushed request gives a code', async () => {
    const code = sent(await take(await push())).get('code') ?? '';
    expect((await flow.redeem(code)).status).toBe(200);
  });

  test('section 4: further parameters in the query are ignored', async () => {
    const uri = encodeURIComponent(await push());
    const page = await browser.request(
      'GET',
      `/auth?client_id=web&request_uri=${uri}&redirect_uri=https://evil.example/&scope=documents:write`,
    );
    expect(page.headers.get('location')).toMatch(/^https:\/\/app\.example\/callback\?code=/);
  });

  test.each<[string, Record<string, string>, number, string]>([
    ['no PKCE', { code_challenge: '', code_challenge_method: '' }, 400, 'invalid_request'],
    ['another redirect URI', { redirect_uri: `${CALLBACK}/` }, 400, 'invalid_request'],
    [
      'a request_uri (section 2.1)',
      { request_uri: 'urn:ietf:params:oauth:request_uri:x' },
      400,
      'request_uri_not_supported',
    ],
    ['an unknown client', { client_id: 'nobody' }, 401, 'invalid_client'],
    ['a client with a secret, without it', { client_id: 'server' }, 401, 'invalid_client'],
    ['an unknown scope', { scope: 'admin' }, 400, 'invalid_scope'],
    ['an unknown resource', { resource: 'https://evil.example/' }, 400, 'invalid_target'],
  ])('section 2.3: %s is refused at once', async (_what, form, status, error) => {
    const answer = await flow.post('/request', { ...REQUEST, ...form });
    expect(answer.status).toBe(status);
    expect(answer.body['error']).toBe(error);
  });

  test('a client that may not use codes is refused', async () => {
    const { client_id: _, ...form } = REQUEST;
    expect((await flow.post('/request', form, asApp)).status).toBe(400);
  });

  test('section 2: the default scopes are asked for when there is no scope', async () => {
    const uri = await push({ scope: '' });
    expect(sent(await take(uri)).get('code')).not.toBeNull();
  });

  test('offline_access that the client may not have is ignored (OpenID Connect Core 1.0 section 11)', async () => {
    const client_id = 'online';
    await flow.stores.clients.add({ ...WEB, client_id, scope: 'documents:read' });
    const form = { client_id, scope: 'documents:read offline_access', prompt: 'consent' };
    const page = await browser.open(
      (await take(await push(form), client_id)).headers.get('location') ?? '',
    );
    const code = sent(await browser.submit(page, { decision: 'allow' })).get('code') ?? '';
    expect((await flow.redeem(code, { client_id })).body['scope']).toBe('documents:read');
  });

  test('an unknown request_uri gives an error, which is sent only to the client', async () => {
    for (const id of ['', 'x', '%00', 'x'.repeat(500)]) {
      const page = await take(`urn:ietf:params:oauth:request_uri:${id}`);
      expect(page.headers.get('location')).toMatch(
        /^https:\/\/app\.example\/callback\?error=invalid_request_uri&/,
      );
    }
  });

  test('section 7.2: a request_uri of another client is refused', async () => {
    const page = await take(await push(), 'native');
    expect([page.status, page.headers.get('location')]).toEqual([400, null]);
  });

  test('section 4: a request_uri works once, also for ten requests at the same time', async () => {
    const uri = await push();
    const pages = await Promise.all(Array.from({ length: 10 }, () => take(uri)));
    const codes = pages.filter((page) => page.headers.get('location')?.includes('code='));
    expect(codes).toHaveLength(1);
    for (const page of pages.filter((one) => !codes.includes(one))) {
      expect(page.headers.get('location') ?? 'error=invalid_request_uri').toContain(
        'error=invalid_request_uri',
      );
    }
    const again = await take(uri);
    expect(again.headers.get('location') ?? '').not.toContain('code=');
  });

  test('a client cannot use a request that another client pushed', async () => {
    const form = { ...REQUEST, client_id: 'server' };
    const { status, body } = await flow.post('/request', form, basic('server', SECRET));
    expect(status).toBe(201);
    const page = await take(String(body['request_uri']));
    expect(page.headers.get('location') ?? 'error=').toContain('error=');
    expect((await take(String(body['request_uri']), 'server')).status).toBe(303);
  });

  test('section 2.1: client_id is required beside the authentication, and must name the same client', async () => {
    const { client_id: _, ...form } = REQUEST;
    const asServer = basic('server', SECRET);
    for (const body of [form, { ...form, client_id: 'web' }]) {
      expect((await flow.post('/request', body, asServer)).status).toBe(400);
    }
  });
});
