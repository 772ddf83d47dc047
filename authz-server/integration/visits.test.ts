import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { Agent, request } from 'undici';
import {
  documentServer,
  type DocumentServer,
  webDocument,
} from '#shared/client-documents/document-server.fixture.ts';
import { CALLBACK, testFlow, type TestFlow } from './code-flow.fixture.ts';

const CONNECTIONS = 16;
const FLOOD = 60;
const VISITS = 20;
/** The most octets of JSON that the store has for each artefact. */
const LONGEST = 16_384;

/** The address of a different visitor, whose requests must not be affected. */
const THEIRS = '192.0.2.1';
const OURS = '198.51.100.7';

const SETTINGS = {
  limits: { visits: { burst: VISITS, per: 3600 }, account: { burst: 1000, per: 1 } },
  trustedProxies: ['127.0.0.1/32'],
};
const NOTES = 'https://api.example/notes/';

let flow: TestFlow;
let agent: Agent;
beforeEach(async () => {
  flow = await testFlow(SETTINGS);
  agent = new Agent({ connections: CONNECTIONS });
});
afterEach(async () => {
  await agent.close();
  await flow[Symbol.asyncDispose]();
});

/** Returns how many artefacts each file of the store has, and the length of the longest. */
function kept(): Readonly<Record<'state' | 'transient', { rows: number; longest: number }>> {
  const of = (file: string, table: string) => {
    using database = new DatabaseSync(join(flow.config.data, file), { readOnly: true });
    const row = database
      .prepare(`SELECT count(*) AS rows, ifnull(max(length(payload)), 0) AS longest FROM ${table}`)
      .get();
    return { rows: Number(row?.['rows']), longest: Number(row?.['longest']) };
  };
  return { state: of('state.db', 'artefact'), transient: of('transient.db', 'passing_artefact') };
}

async function ask(path: string, address: string, form?: Record<string, string>) {
  const headers = {
    'x-forwarded-for': address,
    accept: 'text/html',
    ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
  };
  const body = form && new URLSearchParams(form).toString();
  const method = form ? 'POST' : 'GET';
  const answer = await request(`${flow.url}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
    dispatcher: agent,
  });
  await answer.body.dump();
  return {
    status: answer.statusCode,
    location: String(answer.headers['location'] ?? ''),
    retryAfter: answer.headers['retry-after'],
  };
}

/** Sends as many concurrent requests as there are connections, and counts the answers of each kind. */
async function flood(one: (n: number) => Promise<string>): Promise<Record<string, number>> {
  const told: Record<string, number> = {};
  let next = 0;
  const worker = async () => {
    while (next < FLOOD) {
      const answer = await one((next += 1));
      told[answer] = (told[answer] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  return told;
}

const authorization = () => flow.authorize().replace(flow.config.issuer, '');

describe('rows in the store for unauthenticated visitors', () => {
  test('many requests to /auth from one address leave a limited number of rows, none durable, and other visitors are served', async () => {
    const before = kept();
    const path = authorization();
    const over = new AbortController();
    const others: number[] = [];
    const visitor = (async () => {
      do others.push((await ask(path, OURS)).status, (await ask('/account', OURS)).status);
      while (!over.signal.aborted || others.length < 4);
    })();
    const told = await flood(async () => {
      const { status, location } = await ask(path, THEIRS);
      return `${status} ${/^\/interaction|error=\w+/.exec(new URL(location, flow.url).href.replace(flow.url, ''))?.[0]}`;
    });
    over.abort();
    await visitor;
    expect(told).toEqual({
      '303 /interaction': VISITS,
      '303 error=temporarily_unavailable': FLOOD - VISITS,
    });
    // Requests beyond the limit of their own address get this answer, too, and never that the server is unavailable.
    expect(new Set(others)).toEqual(new Set([303, 200]));
    const after = kept();
    expect(after.state).toEqual(before.state);
    expect(after.transient.rows - before.transient.rows).toBeLessThanOrEqual(2 * VISITS);
    expect(after.transient.longest).toBeLessThanOrEqual(LONGEST);
  });

  test('a signed-in person does not use up the limit of the address', async () => {
    await flood(async () => String((await ask(authorization(), '127.0.0.1')).status));
    const browser = flow.browser();
    const page = await browser.open('/account');
    await browser.submit(page, { name: 'alice', password: 'correct horse battery' });
    const consent = await browser.open(flow.authorize());
    expect(consent.status).toBe(200);
  });

  test('one account leaves no more rows than an address', async () => {
    const browser = await flow.signedIn();
    const before = kept();
    const asked = flow.authorize({ prompt: 'consent' });
    const told = await flood(async () => {
      const { headers } = await browser.request('GET', asked);
      return /^\/interaction|error=\w+/.exec(headers.get('location') ?? '')?.[0] ?? 'none';
    });
    expect(told).toEqual({
      '/interaction': VISITS,
      'error=temporarily_unavailable': FLOOD - VISITS,
    });
    expect(kept().transient.rows - before.transient.rows).toBe(VISITS);
  });

  test.each([
    ['/request', { client_id: 'web' }],
    ['/device/auth', { client_id: 'tv', scope: 'documents:read' }],
  ])(
    'at %s a limited number of requests of public clients from one address succeeds, then 429 (RFC 6585 section 4)',
    async (path, form) => {
      const url = new URL(flow.authorize());
      const full =
        path === '/request' ? { ...Object.fromEntries(url.searchParams), ...form } : form;
      const before = kept();
      const told = await flood(async () => {
        const { status, retryAfter } = await ask(path, THEIRS, full);
        return status === 429 ? `429, in an hour: ${Number(retryAfter) > 3500}` : String(status);
      });
      const made = path === '/request' ? '201' : '200';
      expect(told).toEqual({ [made]: VISITS, '429, in an hour: true': FLOOD - VISITS });
      expect((await ask(path, OURS, full)).status).toBe(Number(made));
      const after = kept();
      const rows = (one: typeof after) => one.state.rows + one.transient.rows;
      expect(rows(after) - rows(before)).toBe(VISITS + 1);
      const long = { ...full, scope: `openid ${'x'.repeat(2 * LONGEST)}` };
      expect((await ask(path, OURS, { ...full, ...long })).status).toBe(400);
    },
    60_000,
  );

  describe('a client with a key in a document, of which an attacker can publish many', () => {
    let site: DocumentServer;
    let key: CryptoKey;
    let clientId: string;
    beforeEach(async () => {
      await flow[Symbol.asyncDispose]();
      const scopes = { safe: ['notes:read'] };
      const space = { url: NOTES, realm: 'notes', schemes: ['Bearer'], scopes };
      const spaces = [{ ...space, documentClients: ['notes:read'] }];
      flow = await testFlow({ ...SETTINGS, spaces });
      site = await documentServer();
      const { publicKey, privateKey } = await generateKeyPair('ES256');
      key = privateKey;
      clientId = `${site.origin}/client.json`;
      site.documents.set(
        '/client.json',
        webDocument(clientId, {
          redirect_uris: [CALLBACK],
          token_endpoint_auth_method: 'private_key_jwt',
          jwks: { keys: [await exportJWK(publicKey)] },
        }),
      );
    });
    afterEach(async () => site[Symbol.asyncDispose]());

    const proof = async () => ({
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await new SignJWT({ jti: crypto.randomUUID() })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(clientId)
        .setSubject(clientId)
        .setAudience(flow.config.issuer)
        .setIssuedAt()
        .setExpirationTime('1 minute')
        .sign(key),
    });
    const rows = () => {
      using database = new DatabaseSync(join(flow.config.data, 'transient.db'), { readOnly: true });
      return Number(database.prepare('SELECT count(*) AS rows FROM replay').get()?.['rows']);
    };
    const pushed = () => ({
      ...Object.fromEntries(new URL(flow.authorize({ client_id: clientId })).searchParams),
      scope: 'notes:read',
      resource: NOTES,
    });
    const floodOf = (path: string, form: () => Record<string, string>) =>
      flood(async () =>
        String((await ask(path, THEIRS, { ...form(), ...(await proof()) })).status),
      );

    test('a limited number of its pushed requests and assertions succeeds, then 429, and another address is served', async () => {
      const [before, used] = [kept(), rows()];
      const told = await floodOf('/request', pushed);
      expect(Object.keys(told).toSorted()).toEqual(['201', '429']);
      expect(rows() - used).toBeLessThanOrEqual(VISITS);
      expect(kept().transient.rows - before.transient.rows).toBeLessThanOrEqual(VISITS);
      expect((await ask('/request', OURS, { ...pushed(), ...(await proof()) })).status).toBe(201);
      const long = { ...pushed(), state: 'x'.repeat(2 * LONGEST), ...(await proof()) };
      expect((await ask('/request', OURS, long)).status).toBe(400);
    });

    test('assertions at an endpoint without a limit for addresses leave as few rows', async () => {
      await ask('/request', OURS, pushed());
      const used = rows();
      const told = await floodOf('/token/introspection', () => ({ token: 'x' }));
      expect(told).toEqual({ '200': VISITS, '429': FLOOD - VISITS });
      expect(rows() - used).toBe(VISITS);
    });
  });

  test('RP-Initiated Logout 1.0 section 2: a logout without a session leaves no row on the disk', async () => {
    const before = kept();
    for (let n = 0; n < 5; n += 1) await ask('/session/end', THEIRS);
    expect(kept().state).toEqual(before.state);
  });

  test('the limit of all addresses together holds', async () => {
    await using small = await testFlow({
      limits: { allVisits: { burst: 3, per: 3600 } },
      trustedProxies: ['127.0.0.1/32'],
    });
    const statuses: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const { headers } = await request(small.authorize().replace(small.config.issuer, small.url), {
        headers: { 'x-forwarded-for': `192.0.2.${n}`, accept: 'text/html' },
        dispatcher: agent,
      });
      statuses.push(String(headers['location']).includes('error=') ? 'no' : 'yes');
    }
    expect(statuses).toEqual(['yes', 'yes', 'yes', 'no', 'no']);
  });
});
