import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import {
  documentServer,
  type DocumentServer,
  webDocument,
} from '#shared/client-documents/document-server.fixture.ts';
import { listAccess } from '#shared/people/access/grants.ts';
import { CALLBACK, sent, testFlow } from '../../authz-server/integration/code-flow.fixture.ts';
import type { TestFlow } from '../../authz-server/integration/code-flow.fixture.ts';
import { STORE_KINDS, startStore } from '../flows/flow.ts';
import { until } from '../parts/process.ts';

const NOTES = 'https://api.example/notes/';
const SPACES = [
  {
    url: NOTES,
    realm: 'notes',
    schemes: ['Bearer'],
    scopes: { safe: ['notes:read'] },
    documentClients: ['notes:read'],
  },
];
const PLENTY = { burst: 1000, per: 1 };

const tenTimes = <T>(work: (turn: number) => Promise<T>) =>
  Promise.all(Array.from({ length: 10 }, (_, turn) => work(turn)));

let site: DocumentServer;
beforeAll(async () => {
  site = await documentServer();
});
afterAll(async () => site[Symbol.asyncDispose]());

/** Clients identified by Client ID Metadata Documents, with ten requests at once. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  const parts = new AsyncDisposableStack();
  let flow: TestFlow;
  let clock: ManualClock;
  let clientId: string;
  let made = 0;

  beforeAll(async () => {
    clock = new ManualClock(Date.now());
    const limits = { account: PLENTY, signIn: PLENTY };
    const settings = { spaces: SPACES, limits, ...(await startStore(kind, parts)) };
    flow = parts.use(await testFlow(settings, clock));
  });
  afterAll(() => parts.disposeAsync());
  beforeEach(() => {
    clock.advance(30); // Advances the clock past the limits of document fetches.
    clientId = describeClient();
  });

  function describeClient(origin = site.origin): string {
    const id = `${origin}/client-${(made += 1)}.json`;
    describeIt(id);
    return id;
  }
  function describeIt(id: string, members: object = {}): void {
    const document = webDocument(id, { redirect_uris: [CALLBACK], ...members });
    site.documents.set(new URL(id).pathname, document);
  }

  const request = (client_id = clientId) => ({ client_id, scope: 'notes:read', resource: NOTES });
  const authorize = () => flow.authorize(request());
  const redeem = (code: string, client_id = clientId) =>
    flow.redeem(code, { client_id, redirect_uri: CALLBACK });
  const grants = async () => {
    const { stores } = flow;
    const store = { stores, clock, random: systemRandom, longestLife: 600 };
    const all = await listAccess(store, flow.accountId);
    return all.filter((access) => access.clientId === clientId);
  };

  test('if two clients redeem one code, only the client that it was issued to succeeds, once', async () => {
    const other = describeClient();
    const browser = await flow.signedIn();
    await flow.allow(browser, request(other));
    const answer = await flow.allow(browser, request());
    const code = answer.get('code') ?? '';
    const answers = await tenTimes((turn) => redeem(code, turn % 2 ? clientId : other));
    const winners = answers.flatMap(({ status }, turn) => (status === 200 ? turn % 2 : []));
    expect(winners).toEqual([1]);
  });

  test('an unknown client that is allowed in ten browsers at once is stored as one client', async () => {
    const browsers = await tenTimes(() => flow.signedIn());
    const pages = await tenTimes((turn) => browsers[turn]!.open(authorize()));
    const answers = await tenTimes((turn) =>
      browsers[turn]!.submit(pages[turn]!, { decision: 'allow' }),
    );
    const redeemed = await tenTimes((turn) => redeem(sent(answers[turn]!).get('code') ?? ''));
    expect(redeemed.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const slice = await flow.stores.clients.list();
    expect(slice.filter(({ client_id }) => client_id === clientId)).toHaveLength(1);
  });

  test('a consent to a changed client, sent ten times, makes one grant, and the earlier grant is revoked', async () => {
    const browser = await flow.signedIn();
    await flow.allow(browser, request());
    const [before] = await grants();
    describeIt(clientId, { client_name: 'Other' });
    clock.advance(31);
    await flow.browser().open(authorize());
    await until(async () => (await flow.stores.clients.get(clientId))?.client_name === 'Other');
    const page = await browser.open(authorize());
    expect(page.text).toContain('Allow access');
    const answers = await tenTimes(() => browser.submit(page, { decision: 'allow' }));
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    const after = await grants();
    expect(after).toHaveLength(1);
    expect(after[0]?.grantId).not.toBe(before?.grantId);
  });

  describe('a client whose document no longer has keys (RFC 6749 section 10.4)', () => {
    let first: Key;
    beforeEach(async () => {
      first = await newKey();
      // Another host, because an address may have only a few unknown documents fetched from one host.
      clientId = describeClient(site.origin.replace('localhost', '127.0.0.1'));
      describeIt(clientId, keyed(first));
    });

    const keyed = ({ jwk }: Key) => ({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [jwk] },
    });
    const seconds = () => Math.floor(clock.now() / 1000);
    async function shown({ privateKey }: Key): Promise<Record<string, string>> {
      const assertion = new SignJWT({ jti: crypto.randomUUID() })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(clientId)
        .setSubject(clientId)
        .setAudience(flow.config.issuer)
        .setIssuedAt(seconds())
        .setExpirationTime(seconds() + 60);
      return {
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await assertion.sign(privateKey),
      };
    }
    const refresh = (token: unknown, proof: Record<string, string> = {}) =>
      flow.refresh(String(token), { client_id: clientId, ...proof });

    /** Gets a refresh token. If `key` is given, the client proved it when it redeemed the code. */
    async function refreshToken(key?: Key): Promise<unknown> {
      const answer = await flow.allow(await flow.signedIn(), request());
      const { body } = await flow.redeem(answer.get('code') ?? '', {
        client_id: clientId,
        redirect_uri: CALLBACK,
        ...(key && (await shown(key))),
      });
      expect(body).toHaveProperty('refresh_token');
      return body['refresh_token'];
    }

    /** Changes the document and waits until the server has fetched it. */
    async function change(members: object): Promise<void> {
      const told = async () => (await flow.stores.clients.get(clientId))?.document?.fetched;
      const before = await told();
      describeIt(clientId, members);
      clock.advance(31);
      await flow.browser().open(authorize());
      await until(async () => (await told()) !== before);
    }

    test('a refresh token that was bound to a key is refused without a key, ten times at once, and stays unused', async () => {
      const token = await refreshToken(first);
      await change({});
      const answers = await tenTimes(() => refresh(token));
      for (const { status, body } of answers) {
        expect([status, body['error']]).toEqual([400, 'invalid_grant']);
      }
      await change(keyed(first));
      expect((await refresh(token, await shown(first))).status).toBe(200);
    });

    test('a grant made after the change is refreshed without a key, and an older grant stays refused after another change', async () => {
      const old = await refreshToken(first);
      await change({});
      const token = await refreshToken();
      const { status, body } = await refresh(token);
      expect(status).toBe(200);
      await change({ client_name: 'Other' });
      expect((await refresh(body['refresh_token'])).status).toBe(200);
      expect((await refresh(old)).status).toBe(400);
    });

    test('if the client has a new key, the refresh token needs the new key (draft section 6.3.1)', async () => {
      const token = await refreshToken(first);
      const second = await newKey();
      await change(keyed(second));
      for (const proof of [await shown(first), {}]) {
        const refused = await refresh(token, proof);
        expect([refused.status, refused.body['error']]).toEqual([401, 'invalid_client']);
      }
      expect((await refresh(token, await shown(second))).status).toBe(200);
    });

    test('if the client first had no key, its refresh token needs the key that its document has now', async () => {
      describeIt(clientId);
      const token = await refreshToken();
      await change(keyed(first));
      expect((await refresh(token)).status).toBe(401);
      expect((await refresh(token, await shown(first))).status).toBe(200);
    });

    test('without a key, introspection does not report the token as active, and revocation revokes the grant (RFC 7009 section 2.1)', async () => {
      const token = await refreshToken(first);
      const form = { client_id: clientId, token: String(token) };
      for (const path of ['/token/introspection', '/token/revocation']) {
        expect((await flow.post(path, form)).status).toBe(401);
      }
      await change({});
      expect((await flow.post('/token/introspection', form)).body).not.toMatchObject({
        active: true,
      });
      expect((await flow.post('/token/revocation', form)).status).toBe(200);
      await change(keyed(first));
      expect((await refresh(token, await shown(first))).status).toBe(400);
    });

    test('a pushed request needs the key, and its code is refused after the document has lost its keys', async () => {
      const query = Object.fromEntries(new URL(authorize()).searchParams);
      expect((await flow.post('/request', query)).status).toBe(401);
      const pushed = await flow.post('/request', { ...query, ...(await shown(first)) });
      expect(pushed.status).toBe(201);
      const browser = await flow.signedIn();
      const request_uri = String(pushed.body['request_uri']);
      const begun = new URLSearchParams({ client_id: clientId, request_uri });
      const page = await browser.open(`${flow.config.issuer}/auth?${begun.toString()}`);
      const answer = sent(await browser.submit(page, { decision: 'allow' }));
      await change({});
      expect(await redeem(answer.get('code') ?? '')).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      });
    });

    test('the device endpoint gives such a client no code, with a key or without (RFC 8628 section 3.1)', async () => {
      await refreshToken(first);
      const asked = async (proof: Record<string, string>) =>
        flow.post('/device/auth', { client_id: clientId, scope: 'notes:read', ...proof });
      expect((await asked({})).status).toBe(401);
      const refused = [await asked(await shown(first))];
      await change({});
      refused.push(await asked({}));
      for (const { status, body } of refused) {
        expect([status, body['error']]).toEqual([400, 'unauthorized_client']);
      }
    });
  });
});

interface Key {
  readonly privateKey: CryptoKey;
  readonly jwk: object;
}

async function newKey(): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), alg: 'ES256' } };
}
