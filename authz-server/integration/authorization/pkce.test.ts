import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { basic, SECRET } from '../authz.fixture.ts';
import { CALLBACK, SERVER, sent, testFlow, VERIFIER } from '../code-flow.fixture.ts';
import type { TestFlow } from '../code-flow.fixture.ts';
import type { TestBrowser } from '../browser.fixture.ts';

/** A confidential client that binds codes by the nonce of OpenID Connect (RFC 9700 section 2.1.1). */
const RELYING = { ...SERVER, client_id: 'relying', pkce: 'nonce' as const };
/** The command line refuses this registration, so the test writes it to the store. */
const PUBLIC = { ...RELYING, client_id: 'public', token_endpoint_auth_method: 'none' as const };
const SECRETS = basic('relying', SECRET);
const WITHOUT = { code_challenge: '', code_challenge_method: '' };
const NONCE = { nonce: 'the nonce', scope: 'openid documents:read' };

let flow: TestFlow;
let browser: TestBrowser;
beforeAll(async () => {
  flow = await testFlow();
  const { secret_hash: _, ...without } = PUBLIC;
  await flow.stores.clients.add(RELYING);
  await flow.stores.clients.add(without);
  browser = await flow.signedIn();
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
});

type Form = Readonly<Record<string, string>>;

const newCode = async (parameters: Form): Promise<string> =>
  (await flow.allow(browser, { client_id: 'relying', ...NONCE, ...parameters })).get('code') ?? '';

const redeem = (code: string, form: Form = {}) =>
  flow.redeem(code, { client_id: 'relying', ...form }, SECRETS);

/** Returns the error that the client gets for a refused request. */
async function refusal(parameters: Form): Promise<readonly (string | null)[]> {
  const answer = sent(await flow.browser().request('GET', flow.authorize(parameters)));
  return [answer.get('error'), answer.get('error_description'), answer.get('code')];
}

const NAMES_BOTH = expect.stringMatching(/code_challenge and code_challenge_method=S256/);

describe('RFC 7636 section 4.4.1: a request without code_challenge', () => {
  test.each(['web', 'server'])(
    'a request is refused for %s, and the refusal names both parameters',
    async (id) => {
      const refused = await refusal({ client_id: id, ...NONCE, ...WITHOUT });
      expect(refused).toEqual(['invalid_request', NAMES_BOTH, null]);
    },
  );

  test.each<[string, Form]>([
    ['neither', { nonce: '', scope: 'documents:read' }],
    ['no nonce', { nonce: '' }],
    ['no openid', { scope: 'documents:read', nonce: '' }],
    ['no scope, where openid is no default', { scope: '', nonce: '' }],
  ])(
    'a request with %s is refused, also for a client registered without PKCE',
    async (_what, parameters) => {
      const asked = { client_id: 'relying', ...NONCE, ...parameters, ...WITHOUT };
      const [error, description, code] = await refusal(asked);
      expect([error, code]).toEqual(['invalid_request', null]);
      expect(description).toContain('nonce');
    },
  );

  test('a request needs neither PKCE nor a nonce if the operator has switched them off', async () => {
    await flow.stores.clients.add({ ...RELYING, client_id: 'off', pkce: 'off' });
    const asked = { client_id: 'off', ...WITHOUT, nonce: '' };
    for (const scope of ['openid documents:read', 'documents:read']) {
      const code = (await flow.allow(browser, { ...asked, scope })).get('code') ?? '';
      const form = { client_id: 'off', code_verifier: '' };
      expect((await flow.redeem(code, form, basic('off', SECRET))).status).toBe(200);
    }
    const wrong = await refusal({ ...asked, code_challenge: 'x', code_challenge_method: 'plain' });
    expect(wrong[0]).toBe('invalid_request');
  });

  test.each(['nonce', 'off'] as const)(
    'a public client with pkce %s in the store has to send it',
    async (pkce) => {
      const { secret_hash: _, ...without } = PUBLIC;
      await flow.stores.clients.add({ ...without, client_id: `public-${pkce}`, pkce });
      const refused = await refusal({ client_id: `public-${pkce}`, ...NONCE, ...WITHOUT });
      expect(refused).toEqual(['invalid_request', NAMES_BOTH, null]);
    },
  );

  test('a request of a public client is always refused', async () => {
    const refused = await refusal({ client_id: 'public', ...NONCE, ...WITHOUT });
    expect(refused).toEqual(['invalid_request', NAMES_BOTH, null]);
  });

  test('a request is refused if nonce or scope is sent twice', async () => {
    const url = flow.authorize({ client_id: 'relying', ...NONCE, ...WITHOUT });
    for (const more of ['nonce=', 'nonce=other', 'scope=openid']) {
      const page = await flow.browser().request('GET', `${url}&${more}`);
      expect(sent(page).get('error')).toBe('invalid_request');
    }
  });

  test('RFC 9126: a pushed request is judged in the same way', async () => {
    const scope = 'openid documents:read';
    const form = { client_id: 'relying', response_type: 'code', redirect_uri: CALLBACK, scope };
    const without = await flow.post('/request', form, SECRETS);
    expect([without.status, without.body['error']]).toEqual([400, 'invalid_request']);
    const { status, body } = await flow.post('/request', { ...form, nonce: 'n' }, SECRETS);
    expect(status).toBe(201);
    const request = { client_id: 'relying', request_uri: String(body['request_uri']) };
    const page = await browser.open(`/auth?${new URLSearchParams(request).toString()}`);
    const answer = sent(
      page.status === 200 ? await browser.submit(page, { decision: 'allow' }) : page,
    );
    expect((await redeem(answer.get('code') ?? '', { code_verifier: '' })).status).toBe(200);
  });
});

describe('RFC 9700 section 2.1.1: a confidential client with openid and a nonce', () => {
  test('the client needs no challenge, since the nonce in the ID token ties the code to its session', async () => {
    const { status, body } = await redeem(await newCode(WITHOUT), { code_verifier: '' });
    expect(status).toBe(200);
    expect(decodeJwt(String(body['id_token']))).toMatchObject({
      aud: 'relying',
      nonce: 'the nonce',
    });
  });

  test('openid cannot be refused on the consent page, so the ID token is never missing', async () => {
    const other = await flow.signedIn();
    const asked = flow.authorize({ client_id: 'relying', ...NONCE, ...WITHOUT, prompt: 'consent' });
    const answer = sent(
      await other.submit(await other.open(asked), { decision: 'allow', item: '' }),
    );
    const { body } = await redeem(answer.get('code') ?? '', { code_verifier: '' });
    expect(decodeJwt(String(body['id_token']))['nonce']).toBe('the nonce');
  });

  test('section 2.1.1, PKCE downgrade: a verifier for a code without challenge is refused', async () => {
    const { status, body } = await redeem(await newCode(WITHOUT), { code_verifier: VERIFIER });
    expect([status, body['error']]).toEqual([400, 'invalid_grant']);
  });

  test.each<[string, string]>([
    ['no verifier', ''],
    ['another verifier', 'w'.repeat(43)],
  ])('section 4.5.3.1: a challenge that is sent counts: %s is refused', async (_what, verifier) => {
    const { status, body } = await redeem(await newCode({}), { code_verifier: verifier });
    expect([status, body['error']]).toEqual([400, 'invalid_grant']);
  });

  test.each<[string, Form]>([
    ['plain', { code_challenge: VERIFIER, code_challenge_method: 'plain' }],
    ['without a method', { code_challenge_method: '' }],
    ['too short', { code_challenge: 'abc' }],
    ['a method alone', { code_challenge: '' }],
  ])('a challenge that is %s is refused, not ignored', async (_what, parameters) => {
    const [error] = await refusal({ client_id: 'relying', ...NONCE, ...parameters });
    expect(error).toBe('invalid_request');
  });

  test('a code with a challenge is redeemed with its verifier', async () => {
    expect((await redeem(await newCode({}))).status).toBe(200);
  });
});
