import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { createRecorder } from '#shared/audit/recorder.ts';
import { type Log, silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { endGrant } from '#shared/people/access/grants.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { addPublicKey } from '#shared/people/key-purposes.ts';
import { createPasswords } from '#shared/people/password.ts';
import { readPublicKey } from '#shared/people/public-key.ts';
import { addClient } from '#shared/operations/clients/client-add.ts';
import { removeClient } from '#shared/operations/clients/client-remove.ts';
import { setClient } from '#shared/operations/clients/client-set.ts';
import { type House, perform } from '#shared/operations/operation.ts';
import { ManualClock } from '#shared/base/clock.ts';
import {
  documentServer,
  type DocumentServer,
  webDocument,
} from '#shared/client-documents/document-server.fixture.ts';
import { documentNetwork } from '#shared/client-documents/reach.ts';
import type { TestBrowser } from '../browser.fixture.ts';
import { CALLBACK, sent, testFlow, type TestFlow } from '../code-flow.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

const NOTES = 'https://api.example/notes/';
const SPACES = [
  {
    url: NOTES,
    realm: 'notes',
    schemes: ['Bearer'],
    scopes: { safe: ['notes:read'], unsafe: ['notes:write'] },
    documentClients: ['notes:read'],
  },
  {
    url: 'https://api.example/closed/',
    realm: 'closed',
    schemes: ['Bearer'],
    scopes: { safe: ['notes:read'], unsafe: ['notes:write'] },
  },
];

const PLENTY = { burst: 1000, per: 1 };

const warned: string[] = [];
const log: Log = { ...silentLog, warn: (event) => void warned.push(event) };

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
  clientId = `${site.origin}/client-${(made += 1)}.json`;
  describeIt();
  browser = await flow.signedIn();
});
afterEach(() => {
  site.asked.length = 0;
  clock.advance(30); // refills the limits of fetches
});

function describeIt(members: object = {}): void {
  const document = webDocument(clientId, { redirect_uris: [CALLBACK], ...members });
  site.documents.set(new URL(clientId).pathname, document);
}

const request = (parameters: Record<string, string> = {}) => ({
  client_id: clientId,
  scope: 'notes:read',
  resource: NOTES,
  ...parameters,
});

async function tokens(parameters: Record<string, string> = {}) {
  const answer = await flow.allow(browser, request(parameters));
  const { status, body } = await flow.redeem(answer.get('code') ?? '', {
    client_id: clientId,
    redirect_uri: parameters['redirect_uri'] ?? CALLBACK,
  });
  return { status, body };
}

const house = (): House => ({
  ...flow,
  clock,
  documentNetwork: documentNetwork(flow.config),
  random: systemRandom,
  longestLife: 600,
  realms: [],
  passwords: createPasswords(argon2Once),
  masterSecret: () => Promise.resolve(flow.master),
  recorder: createRecorder({ ...flow, clock, log: silentLog }, { who: 'server', how: 'start' }),
});

const times = () => site.asked.filter((path) => clientId.endsWith(path)).length;

test('the metadata says that the server supports metadata documents (draft section 5)', async () => {
  const answer = await fetched(`${flow.url}/.well-known/oauth-authorization-server`);
  expect(await answer.json()).toMatchObject({ client_id_metadata_document_supported: true });
});

test('an unregistered client with a document gets a token if a person allows it', async () => {
  const { status, body } = await tokens();
  expect(status).toBe(200);
  expect(decodeJwt(String(body['access_token']))).toMatchObject({
    aud: NOTES,
    scope: 'notes:read',
    client_id: clientId,
  });
  expect(times()).toBe(1);
  const again = await flow.refresh(String(body['refresh_token']), { client_id: clientId });
  expect(again.status).toBe(200);
  expect(times()).toBe(1);
});

test('a logout URL in the document: ID tokens have `sid`, and an end leaves a logout', async () => {
  const backchannel_logout_uri = `${site.origin}/logout`;
  describeIt({ backchannel_logout_uri });
  const { body } = await tokens({ scope: 'openid notes:read' });
  expect(decodeJwt(String(body['id_token']))).toMatchObject({ sid: expect.any(String) });
  expect(await flow.stores.clients.get(clientId)).toMatchObject({ backchannel_logout_uri });
  const { grant_id: grant } = decodeJwt(String(body['access_token']));
  await endGrant(house(), String(grant));
  expect(await flow.stores.logouts.due(clock.now())).toContain(clientId);
});

test('the consent page shows the host of the document, the name in it, and the host of the redirect URI', async () => {
  const { text } = await browser.open(flow.authorize(request()));
  const { host } = new URL(clientId);
  expect(text).toContain(`<h1>Allow access to ${host}?</h1>`);
  expect(text).toContain('This application is not registered here');
  expect(text).toContain('calls itself <strong>Notes</strong>');
  expect(text).toContain('app.example');
  expect(text).not.toContain('Any program on this computer');
});

test('markup in the name of a client is shown as text', async () => {
  describeIt({ client_name: '<script>alert(1)</script>' });
  const { text } = await browser.open(flow.authorize(request()));
  expect(text).toContain('&lt;script&gt;');
  expect(text).not.toContain('<script>alert');
});

test('a client that no person has allowed leaves no row in the store', async () => {
  const page = await browser.open(flow.authorize(request()));
  await browser.submit(page, { decision: 'deny' });
  expect(await flow.stores.clients.get(clientId)).toBeUndefined();
});

describe('the rights of a client with a document', () => {
  test('a scope that the space does not open to such clients is ignored', async () => {
    const page = await browser.open(flow.authorize(request({ scope: 'notes:read notes:write' })));
    expect(page.text).not.toContain('notes:write');
    const answer = await flow.allow(browser, request({ scope: 'notes:write' }));
    expect(answer.get('error')).toBe('invalid_scope');
  });

  test('a space that opens no scopes to such clients is no resource for them', async () => {
    const answer = await flow.allow(browser, request({ resource: 'https://api.example/closed/' }));
    expect(answer.get('error')).toBe('invalid_target');
  });

  test('a token in its own name is refused', async () => {
    await tokens();
    const form = { grant_type: 'client_credentials', client_id: clientId, scope: 'notes:read' };
    expect(await flow.post('/token', form)).toMatchObject({ status: 400 });
  });
});

describe('programs on a machine', () => {
  const LOOPBACK = 'http://127.0.0.1:52430/callback';
  beforeEach(() => describeIt({ redirect_uris: ['http://127.0.0.1/callback'] }));

  test('a loopback redirect URI may have any port; the page warns, and asks the person every time', async () => {
    const first = await browser.open(flow.authorize(request({ redirect_uri: LOOPBACK })));
    expect(first.text).toContain(
      'Any program on this computer could pretend to be this application',
    );
    expect(sent(await browser.submit(first, { decision: 'allow' })).get('code')).toBeTruthy();
    const second = await browser.open(flow.authorize(request({ redirect_uri: LOOPBACK })));
    expect(second.status).toBe(200);
    const none = await browser.open(
      flow.authorize(request({ redirect_uri: LOOPBACK, prompt: 'none' })),
    );
    expect(sent(none).get('error')).toBe('interaction_required');
  });

  test('a loopback redirect URI with another path is refused', async () => {
    const redirect_uri = 'http://127.0.0.1:52430/other';
    expect((await browser.open(flow.authorize(request({ redirect_uri })))).status).toBe(400);
  });
});

describe('draft section 6.3: changes', () => {
  const { publicKey } = generateKeyPairSync('ed25519');
  const jwks = { keys: [publicKey.export({ format: 'jwk' })] };

  test('a person who has allowed a client is not asked again while the document is unchanged', async () => {
    await tokens();
    const again = await browser.open(flow.authorize(request()));
    expect(sent(again).get('code')).toBeTruthy();
  });

  test.each([
    ['redirect URIs', { redirect_uris: [CALLBACK, 'https://evil.example/'] }],
    ['name', { client_name: 'Other' }],
    ['keys', { token_endpoint_auth_method: 'private_key_jwt', jwks }],
  ])('a person is asked again after a change of its %s', async (_, members) => {
    await tokens();
    describeIt(members);
    clock.advance(31);
    // The first request afterwards is answered with the stored document, which is fetched again behind the answer.
    await browser.open(flow.authorize(request()));
    for (let waited = 0; times() < 2 && waited < 200; waited += 1) await pause();
    for (let waited = 0; waited < 200; waited += 1) {
      const page = await browser.open(flow.authorize(request()));
      if (page.status === 200) return expect(page.text).toContain('Allow access');
      await pause();
    }
    throw new Error('nobody was asked');
  });
});

describe('while the person decides', () => {
  test.each([
    ['the redirect URI goes', { redirect_uris: ['https://elsewhere.example/'] }],
    ['the name changes', { client_name: 'Other' }],
  ])("if %s, the person's answer to the old page is not used", async (_, members) => {
    const page = await browser.open(flow.authorize(request()));
    describeIt(members);
    clock.advance(31);
    await flow.browser().open(flow.authorize(request()));
    await until(async () => (await changedNow()) !== since(page.text));
    const answer = await browser.submit(page, { decision: 'allow' });
    expect(answer.headers.get('location')).toBeNull();
    expect(await flow.stores.clients.get(clientId)).toBeUndefined();

    async function changedNow() {
      return since((await flow.browser().open(flow.authorize(request()))).text);
    }
  });
});

describe('an operator removes it', () => {
  test("the client's refresh token is refused, even after people allow the client again", async () => {
    const { body } = await tokens();
    clock.advance(1);
    await remove();
    const old = { client_id: clientId };
    const refused = await flow.refresh(String(body['refresh_token']), old);
    expect(refused.status).toBe(400);
    clock.advance(1);
    const page = await browser.open(flow.authorize(request()));
    expect(page.text).toContain('Allow access');
    expect(sent(await browser.submit(page, { decision: 'allow' })).get('code')).toBeTruthy();
    expect((await flow.refresh(String(body['refresh_token']), old)).status).toBe(400);
    await remove();
  });

  test('a client that an operator registers again under the same name has none of the old grants', async () => {
    const { body } = await tokens();
    const record = await flow.stores.clients.get(clientId);
    await remove();
    clock.advance(1);
    const { document: _, ...plain } = { ...record!, created_at: clock.now() };
    await flow.stores.clients.add({ ...plain, scope: 'notes:read' });
    const again = await flow.refresh(String(body['refresh_token']), { client_id: clientId });
    expect(again).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  const remove = () => removeClient.run({ client_id: clientId }, house());

  test('the settings of the client come from its document', async () => {
    await tokens();
    const asked = setClient.input.parse({ client_id: clientId, first_party: true });
    await expect(setClient.run(asked, house())).rejects.toThrow('is what its document says');
  });
});

test('a refusal reveals nothing about the network of the server', async () => {
  const told = [];
  for (const host of ['localhost:1', 'nobody.invalid', '127.0.0.1:1']) {
    const client_id = `https://${host}/c`;
    const { body } = await flow.post('/token', { grant_type: 'refresh_token', client_id });
    told.push(body['error_description']);
  }
  expect(new Set(told)).toEqual(
    new Set(['the description of the client cannot be fetched: mend the document at client_id']),
  );
});

test('the answer of a failed fetch is not cached (draft section 4.4)', async () => {
  site.documents.delete(new URL(clientId).pathname);
  const refused = await browser.open(flow.authorize(request()));
  expect(refused.status).toBe(400);
  describeIt();
  expect((await browser.open(flow.authorize(request()))).text).toContain('Allow access');
});

test('a client with a key must prove it, other clients cannot use its name, and its key has no other use', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] };
  describeIt({ token_endpoint_auth_method: 'private_key_jwt', jwks });
  const redeem = async (form: Record<string, string>) => {
    const code = (await flow.allow(browser, request({ prompt: 'consent' }))).get('code') ?? '';
    return flow.redeem(code, { client_id: clientId, redirect_uri: CALLBACK, ...form });
  };
  const assertion = (key: typeof privateKey) =>
    new SignJWT({ jti: crypto.randomUUID() })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(flow.config.issuer)
      .setIssuedAt(Math.floor(clock.now() / 1000))
      .setExpirationTime(Math.floor(clock.now() / 1000) + 60)
      .sign(key);
  const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  const good = { client_assertion_type, client_assertion: await assertion(privateKey) };
  expect((await redeem(good)).status).toBe(200);
  const other = (await generateKeyPair('ES256')).privateKey;
  const bad = { client_assertion_type, client_assertion: await assertion(other) };
  expect(await redeem(bad)).toMatchObject({ status: 401 });
  expect(await redeem({})).toMatchObject({ status: 401 });

  // RFC 9729 section 8: no key is used in two protocols, and a document can name any person's key.
  const { publicKeys } = flow.stores;
  const [jwk] = jwks.keys;
  const theirs = readPublicKey(Buffer.from(JSON.stringify(jwk)), 'Concealed');
  const owner = { kind: 'application', id: 'App' } as const;
  const members = { scheme: 'Concealed', owner, name: 'x', created_at: clock.now() } as const;
  expect(await addPublicKey(flow.stores, { ...theirs, ...members })).toBe('added');
  const again = { client_assertion_type, client_assertion: await assertion(privateKey) };
  expect(await redeem(again)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  await publicKeys.remove(theirs.id);
  expect((await redeem(again)).status).toBe(200);
});

describe('the cost of requests by unknown clients is limited', () => {
  test('ten requests at the same time fetch one document once', async () => {
    await Promise.all(
      Array.from({ length: 10 }, () => flow.browser().open(flow.authorize(request()))),
    );
    expect(times()).toBe(1);
  });

  test('one request fetches a missing document once', async () => {
    const client_id = `${site.origin}/missing.json`;
    expect((await flow.browser().open(flow.authorize(request({ client_id })))).status).toBe(400);
    expect(site.asked).toEqual(['/missing.json']);
  });

  test('requests from one address fetch 20 documents at once, 8 of one host, and then get 429', async () => {
    clock.advance(180); // refills the limits
    const statuses = async (of: (n: number) => string) => {
      const all = [];
      for (let n = 0; n < 21; n += 1) {
        const client_id = of(n);
        all.push((await flow.browser().open(flow.authorize(request({ client_id })))).status);
      }
      return all;
    };
    const ofOne = await statuses((n) => `${site.origin}/unknown-${n}.json`);
    expect(ofOne.filter((status) => status !== 429)).toHaveLength(8);
    expect(site.asked).toHaveLength(8);
    clock.advance(180);
    const ofMany = await statuses((n) => `https://h${n}.localhost:1/c`);
    expect(ofMany.filter((status) => status !== 429)).toHaveLength(20);
  });

  test('a person can allow 20 clients at once, and must then wait', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 25; n += 1) {
      clientId = `${site.origin}/of-person-${n}.json`;
      describeIt();
      const page = await browser.open(flow.authorize(request()));
      statuses.push((await browser.submit(page, { decision: 'allow' })).status);
      clock.advance(20); // refills the limit of the address at one host
    }
    expect(statuses.slice(-1)).toEqual([429]);
    expect(await flow.stores.clients.get(clientId)).toBeUndefined();
  });

  test('an introspection fetches nothing', async () => {
    await flow.post('/token/introspection', { client_id: clientId, token: 'a' });
    await flow.post('/token/revocation', { client_id: clientId, token: 'a' });
    expect(site.asked).toEqual([]);
  });
});

describe('one day after the last fetch', () => {
  const HOUR = 3600;
  const DAY = 86_400;

  /** Each test has its own server, since limits depend on the time that has passed. */
  beforeEach(async () => {
    await flow[Symbol.asyncDispose]();
    clock = new ManualClock(Date.now());
    flow = await testFlow({ spaces: SPACES }, clock, log);
    browser = await flow.signedIn();
  });

  test('requests for unknown documents of a host do not use up the fetches of a known client there', async () => {
    const { body } = await tokens();
    for (let n = 0; n < 40; n += 1) {
      const client_id = `${site.origin}/other-${n}.json`;
      await flow.post('/token', { grant_type: 'refresh_token', client_id });
    }
    clock.set(DAY + HOUR);
    const now = await flow.refresh(String(body['refresh_token']), { client_id: clientId });
    expect(now.status).toBe(200);
  });

  test('while the site of a client is down, the client works for one day', async () => {
    const { body } = await tokens();
    site.documents.delete(new URL(clientId).pathname);
    clock.set(HOUR);
    const refreshed = await flow.refresh(String(body['refresh_token']), { client_id: clientId });
    expect(refreshed.status).toBe(200);
    await until(() => Promise.resolve(warned.includes('client-document.refresh')));
    clock.set(DAY);
    const token = String(refreshed.body['refresh_token']);
    const late = await flow.refresh(token, { client_id: clientId });
    expect(late).toMatchObject({ status: 400, body: { error: 'invalid_client' } });
  });
});

describe('while clients.documents is off (draft section 6.10)', () => {
  beforeEach(async () => {
    await flow[Symbol.asyncDispose]();
    clock = new ManualClock(Date.now());
    const settings = { spaces: SPACES, clients: { documents: 'off' } };
    flow = await testFlow(settings, clock, log);
    browser = await flow.signedIn();
  });

  test('an unregistered client is unknown, and its document is not fetched', async () => {
    expect((await browser.open(flow.authorize(request()))).status).toBe(400);
    expect(site.asked).toEqual([]);
  });

  test('a client that an operator registered gets only the scopes of documentClients', async () => {
    await perform(addClient, { document: clientId }, house());
    const { status, body } = await tokens({ scope: 'notes:read notes:write' });
    expect([status, body['scope']]).toEqual([200, 'notes:read']);
    expect(times()).toBe(1);
  });

  test("a registered client's document is fetched again, and the client stays registered", async () => {
    await perform(addClient, { document: clientId }, house());
    describeIt({ client_name: 'Other' });
    clock.advance(86_401);
    const page = await (await flow.signedIn()).open(flow.authorize(request()));
    expect(page.text).toContain(
      `The people who run this server have registered <strong>${new URL(clientId).host}</strong>`,
    );
    expect(page.text).toContain('chose the name <strong>Other</strong>');
    expect(page.text).not.toContain('is not registered here');
    const stored = await flow.stores.clients.get(clientId);
    expect(stored).toMatchObject({ client_name: 'Other', document: { registered: true } });
  });
});

/** Returns the time of the description that a page shows. */
const since = (text: string) => /name="since" value="(\d+)"/.exec(text)?.[1];

async function until(come: () => Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < 200; waited += 1) {
    if (await come()) return;
    await pause();
  }
  throw new Error('it never came');
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
