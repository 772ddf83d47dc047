import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { exportJWK, generateKeyPair } from 'jose';
import { ManualClock } from '#shared/base/clock.ts';
import {
  documentServer,
  type DocumentServer,
  webDocument,
} from '#shared/client-documents/document-server.fixture.ts';
import type { TestBrowser } from '../browser.fixture.ts';
import { CALLBACK, sent, testFlow, type TestFlow, WEB } from '../code-flow.fixture.ts';

const NOTES = 'https://api.example/notes/';
const SPACES = [
  {
    url: NOTES,
    realm: 'notes',
    schemes: ['Bearer'],
    scopes: { safe: ['notes:read'], unsafe: ['notes:write'] },
    documentClients: ['notes:read', 'notes:write'],
  },
];
const PLENTY = { burst: 1000, per: 1 };
const EVIL = 'https://evil.example/callback';

let site: DocumentServer;
let flow: TestFlow;
let clock: ManualClock;
let clientId: string;
let browser: TestBrowser;
let made = 0;

beforeAll(async () => {
  site = await documentServer();
  clock = new ManualClock(Date.now());
  flow = await testFlow({ spaces: SPACES, limits: { account: PLENTY, signIn: PLENTY } }, clock);
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});
beforeEach(async () => {
  clock.advance(30); // refills the limits of fetches
  clientId = newClient();
  browser = await flow.signedIn();
});

/** Publishes the document of a client that is not known yet. */
function newClient(members: object = {}): string {
  const id = `${site.origin}/client-${(made += 1)}.json`;
  describeIt(members, id);
  return id;
}

function describeIt(members: object = {}, id = clientId): void {
  const document = webDocument(id, { redirect_uris: [CALLBACK], ...members });
  site.documents.set(new URL(id).pathname, document);
}

const request = (parameters: Record<string, string> = {}) => ({
  client_id: clientId,
  scope: 'notes:read',
  resource: NOTES,
  ...parameters,
});

const codeFor = async (parameters: Record<string, string> = {}) =>
  (await flow.allow(browser, request(parameters))).get('code') ?? '';

const redeemed = (code: string, client_id = clientId) =>
  flow.redeem(code, { client_id, redirect_uri: CALLBACK });

/** Changes the document, and waits until the server has read the change. */
async function changeIt(members: object): Promise<void> {
  const told = async () => (await flow.stores.clients.get(clientId))?.document?.changed;
  const before = await told();
  describeIt(members);
  clock.advance(31);
  await flow.browser().open(flow.authorize(request()));
  for (let waited = 0; (await told()) === before; waited += 1) {
    if (waited > 1000) throw new Error('the server has not heard of it');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('a document that changes between consent and code (draft section 6.3)', () => {
  test.each([
    ['a change of the redirect URIs', { redirect_uris: [CALLBACK, EVIL] }],
    ['a change of the name', { client_name: 'Other' }],
  ])('%s: the code is refused, and the person must decide again', async (_, members) => {
    const code = await codeFor();
    await changeIt(members);
    const refused = await redeemed(code);
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const page = await browser.open(flow.authorize(request()));
    expect(page.text).toContain('Allow access');
    const answer = sent(await browser.submit(page, { decision: 'allow' }));
    expect((await redeemed(answer.get('code') ?? '')).status).toBe(200);
  });

  test('the client no longer needs its key: a stolen code is refused (RFC 9700 section 2.5)', async () => {
    const { publicKey } = await generateKeyPair('ES256');
    const jwks = { keys: [await exportJWK(publicKey)] };
    describeIt({ token_endpoint_auth_method: 'private_key_jwt', jwks });
    const code = await codeFor();
    expect(await redeemed(code)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    await changeIt({});
    expect(await redeemed(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test('a person who has decided again is not asked a third time, and the former permission has ended', async () => {
    const { body } = await redeemed(await codeFor({ scope: 'notes:read notes:write' }));
    await changeIt({ client_name: 'Other' });
    const again = await redeemed(await codeFor());
    expect(again).toMatchObject({ status: 200, body: { scope: 'notes:read' } });
    const third = await browser.open(flow.authorize(request()));
    expect(sent(third).get('code')).toBeTruthy();
    const old = await flow.refresh(String(body['refresh_token']), { client_id: clientId });
    expect(old).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test('a change while the grant is made: the grant has the permissions that the person saw, and its code is refused', async () => {
    const { revocations } = flow.stores;
    const real = revocations.generation.bind(revocations);
    const page = await browser.open(flow.authorize(request()));
    const generation = jest.spyOn(revocations, 'generation');
    generation.mockImplementation(async (kind, id) => {
      if (kind === 'client' && id === clientId) {
        generation.mockRestore();
        await changeIt({ client_name: 'Other' });
      }
      return real(kind, id);
    });
    const answer = sent(await browser.submit(page, { decision: 'allow' }));
    const refused = await redeemed(answer.get('code') ?? '');
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const again = await browser.open(flow.authorize(request()));
    expect(again.text).toContain('Allow access');
    const other = await flow.signedIn();
    expect((await other.open(flow.authorize(request()))).text).toContain('Allow access');
  });

  test('earlier permissions of a person are not part of a new decision, in any browser', async () => {
    await codeFor({ scope: 'notes:read notes:write' });
    await changeIt({ client_name: 'Other' });
    await codeFor();
    const other = await flow.signedIn();
    expect(sent(await other.open(flow.authorize(request()))).get('code')).toBeTruthy();
    const more = await other.open(flow.authorize(request({ scope: 'notes:read notes:write' })));
    expect(more.text).toContain('Allow access');
  });

  test('a code is never sent to a redirect URI that was removed from the document', async () => {
    await codeFor();
    await changeIt({ redirect_uris: ['https://moved.example/callback'] });
    const page = await browser.open(flow.authorize(request()));
    expect([page.status, page.headers.get('location')]).toEqual([400, null]);
  });
});

test('a pushed request never leads to a redirect URI that was removed from the document (RFC 9126 section 2.4)', async () => {
  await codeFor();
  const query = new URL(flow.authorize(request())).searchParams;
  const pushed = await flow.post('/request', Object.fromEntries(query));
  expect(pushed.status).toBe(201);
  await changeIt({ redirect_uris: ['https://moved.example/callback'] });
  const begun = new URLSearchParams({
    client_id: clientId,
    request_uri: String(pushed.body['request_uri']),
  });
  const page = await browser.open(`${flow.config.issuer}/auth?${begun.toString()}`);
  expect([page.status, page.headers.get('location')]).toEqual([400, null]);
  expect(page.text).toContain('redirect_uri');
});

describe('two documents with one redirect URI', () => {
  let other: string;
  beforeEach(() => {
    other = newClient({ client_name: 'Other' });
  });

  test('the other client cannot redeem a code of the first, nor use it up (RFC 6749 section 4.1.3)', async () => {
    const code = await codeFor();
    await codeFor({ client_id: other });
    const refused = await redeemed(code, other);
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await redeemed(code)).status).toBe(200);
  });

  test('the other client cannot use a refresh token of the first (section 6)', async () => {
    const { body } = await redeemed(await codeFor());
    await codeFor({ client_id: other });
    const token = String(body['refresh_token']);
    expect(await flow.refresh(token, { client_id: other })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    expect((await flow.refresh(token, { client_id: clientId })).status).toBe(200);
  });

  test('a permission for one client is no permission for the other', async () => {
    await codeFor();
    const page = await browser.open(flow.authorize(request({ client_id: other })));
    expect(page.text).toContain('calls itself <strong>Other</strong>');
    const none = request({ client_id: other, prompt: 'none' });
    const silent = sent(await browser.open(flow.authorize(none)));
    expect(silent.get('error')).toBe('consent_required');
  });

  test('two addresses that differ in a single character are two clients (draft section 3)', async () => {
    await codeFor();
    const url = new URL(clientId);
    const dotted = `https://${url.hostname}.:${url.port}${url.pathname}`;
    const paths = [`${url.pathname}?`, `${url.pathname}/`, `/.${url.pathname}`];
    for (const client_id of [dotted, ...paths.map((path) => url.origin + path)]) {
      const page = await browser.open(flow.authorize(request({ client_id })));
      expect([client_id, page.status, page.headers.get('location')]).toEqual([
        client_id,
        400,
        null,
      ]);
    }
  });

  test.each([
    'https://api.example./notes/',
    'https://api.example/Notes/',
    'https://api.example/%6Eotes/',
    'https://api.example/notes//',
  ])(
    'RFC 8707 section 2: %s is not taken for one of the configured resources',
    async (resource) => {
      const answer = await flow.allow(browser, request({ resource }));
      expect(answer.get('error')).toBe('invalid_target');
    },
  );
});

describe('a document that names the redirect URI of another client', () => {
  test('with the redirect URI of a registered client, the page names both hosts, and the registered client cannot use the code', async () => {
    const page = await browser.open(flow.authorize(request()));
    expect(page.text).toContain(`<h1>Allow access to ${new URL(clientId).host}?</h1>`);
    expect(page.text).toContain(new URL(CALLBACK).host);
    const answer = sent(await browser.submit(page, { decision: 'allow' }));
    // The attacker's client redeems the code that it received, in its own name.
    const refused = await redeemed(answer.get('code') ?? '', WEB.client_id);
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test('a redirect URI that is only in another document is refused, and the browser is not sent there (RFC 9700 section 4.1.3)', async () => {
    const other = newClient({ redirect_uris: [EVIL] });
    await codeFor({ client_id: other, redirect_uri: EVIL });
    const page = await browser.open(flow.authorize(request({ redirect_uri: EVIL })));
    expect([page.status, page.headers.get('location')]).toEqual([400, null]);
  });

  test.each([
    ['for another client', { client_id: 'https://app.example/client.json' }],
    ['for a registered client', { client_id: WEB.client_id }],
  ])('a document that is %s describes no client', async (_, members) => {
    describeIt(members);
    const page = await browser.open(flow.authorize(request()));
    expect([page.status, page.headers.get('location')]).toEqual([400, null]);
    expect(await flow.stores.clients.get(WEB.client_id)).toEqual(WEB);
  });
});

describe('a document with malformed keys affects only its own client', () => {
  const ec = (namedCurve: string) =>
    generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' });
  const good = ec('P-256');
  const nested = (levels: number): unknown =>
    JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;
  const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

  test.each<[string, object]>([
    ['a key id that is an object', { ...good, kid: {} }],
    ['a key id that is longer than any', { ...good, kid: 'k'.repeat(4000) }],
    ['an algorithm that is a number', { ...good, alg: 5 }],
    ['an algorithm of a shared secret', { ...good, alg: 'HS256' }],
    ['a use that is a list', { ...good, use: [] }],
    ['a use for encryption', { ...good, use: 'enc' }],
    ['operations that are text', { ...good, key_ops: 'verify' }],
    ['operations of a private key', { ...good, key_ops: ['sign'] }],
    ['certificates that are numbers', { ...good, x5c: [1] }],
    ['members with the names of methods', { ...good, toString: 1, toJSON: 1, constructor: 1 }],
    ['members as deep as a document can be', { ...good, x5t: nested(2000) }],
    ['a curve that nobody takes', ec('secp256k1')],
    ['a key for agreement', generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' })],
    [
      'a key that is too short',
      generateKeyPairSync('rsa', { modulusLength: 512 }).publicKey.export({ format: 'jwk' }),
    ],
  ])('the server refuses a client with %s', async (_title, jwk) => {
    describeIt({ token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] } });
    const statuses = [(await browser.open(flow.authorize(request()))).status];
    for (const alg of ['ES256', 'RS256', 'EdDSA', 'HS256']) {
      const header = { alg, kid: (jwk as { kid?: unknown }).kid };
      const claims = { iss: clientId, sub: clientId, aud: flow.config.issuer, jti: alg, exp: 2e9 };
      const parts = [header, claims].map((one) =>
        Buffer.from(JSON.stringify(one)).toString('base64url'),
      );
      const client_assertion = `${parts.join('.')}.${'A'.repeat(86)}`;
      const proof = { client_assertion_type: TYPE, client_assertion };
      statuses.push((await redeemed('a')).status);
      const form = { grant_type: 'authorization_code', code: 'a', redirect_uri: CALLBACK };
      statuses.push((await flow.post('/token', { ...form, ...proof })).status);
    }
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    expect(statuses.slice(1).filter((status) => status < 400)).toEqual([]);
  });
});

test('every answer, and every error, names the server that gave it (RFC 9207 section 2)', async () => {
  const allowed = await flow.allow(browser, request());
  const refused = await flow.allow(browser, request({ scope: 'nonsense' }));
  const denied = sent(
    await browser.submit(await browser.open(flow.authorize(request({ prompt: 'consent' }))), {
      decision: 'deny',
    }),
  );
  expect([allowed, refused, denied].map((answer) => answer.get('iss'))).toEqual(
    Array.from({ length: 3 }, () => flow.config.issuer),
  );
});
