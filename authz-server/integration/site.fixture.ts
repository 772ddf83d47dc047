import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '#shared/base/clock.ts';
import { admittedBy } from '#shared/config/production.ts';
import { configSchema } from '#shared/config/schema.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { localDirectory } from '#shared/people/local.ts';
import { createDocumentClients } from '#shared/client-documents/document-clients.ts';
import { documentNetwork } from '#shared/client-documents/reach.ts';
import { createRecorder } from '#shared/audit/recorder.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson } from '#shared/people/people.ts';
import type { PeopleStore } from '#shared/people/people.ts';
import { silentLog } from '#shared/base/log.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { systemRandom } from '#shared/base/random.ts';
import { listen } from '#shared/server/listen/listen.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openStores } from '#shared/stores/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { openSources } from '../sources/sources.ts';
import { createApp } from '../app.ts';
import { openPush } from '../gnap/push.ts';
import { createEngine } from '../engine/engine.ts';
import { keyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import { openKeyRing } from '#shared/keys/signing-key-ring.ts';
import type { KeyRing } from '#shared/keys/signing-key-ring.ts';
import type { AuthzServer } from '../base/server.ts';
import { TestBrowser } from './browser.fixture.ts';
import type { Page } from './browser.fixture.ts';
import { fetched } from './fetched.fixture.ts';

export const DOCUMENTS = 'https://api.example/documents/';
export const CALLBACK = 'https://app.example/callback';
export const PASSWORD = 'correct horse battery';

/** A public client of a browser, which may have every scope. */
export const WEB: ClientRecord = {
  client_id: 'web',
  client_name: 'Web & <b>App</b>',
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
  redirect_uris: [CALLBACK],
  post_logout_redirect_uris: ['https://app.example/bye'],
  scope: 'openid profile offline_access documents:read documents:write',
  created_at: 0,
};

const VERIFIER = 'a'.repeat(43);

export interface TestSite extends AsyncDisposable {
  readonly url: string;
  readonly server: AuthzServer;
  readonly ring: KeyRing;
  /** Returns how often a password was hashed or checked. */
  readonly hashings: () => number;
  /** Returns a new browser without a sign-in. */
  browser(): TestBrowser;
  /** Returns an authorization request of `web` with PKCE; '' removes a parameter. */
  authorize(params?: Readonly<Record<string, string>>): string;
  /** Redeems the code in the redirect of the page. */
  redeem(page: Page): Promise<Record<string, unknown>>;
}

/** Starts the whole authorization server on the embedded store and a free port, with alice and bob. */
export async function testSite(
  settings: Readonly<Record<string, unknown>> = {},
  clock: Clock = systemClock,
  development = true,
): Promise<TestSite> {
  const data = await storeFolder();
  const config = configSchema.parse({
    data,
    spaces: [
      {
        url: DOCUMENTS,
        realm: 'documents',
        schemes: ['Bearer'],
        scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
      },
    ],
    limits: { account: { burst: 10_000, per: 1 }, signIn: { burst: 10_000, per: 1 } },
    ...settings,
  });
  const parts = { clock, random: systemRandom, log: silentLog };
  const life = longestLife(config);
  const stores = await openStores(config, parts);
  let hashed = 0;
  const counted = <A extends unknown[], R>(work: (...args: A) => R) => {
    return (...args: A): R => {
      hashed += 1;
      return work(...args);
    };
  };
  const passwords = createPasswords({
    hash: counted(argon2Once.hash),
    verify: counted(argon2Once.verify),
  });
  const people: PeopleStore = { ...parts, stores, passwords, longestLife: life, realms: [] };
  await addPerson(people, { name: 'alice', password: PASSWORD });
  await addPerson(people, { name: 'bob', password: PASSWORD });
  await stores.clients.add(WEB);
  await stores.revocations.epoch(true);
  const feed = await stores.revocations.feed();
  const master = Buffer.alloc(32, 7);
  const { revocations } = stores;
  const directory = localDirectory({
    people: stores.people,
    revocations,
    passwords,
    admitted: { ...admittedBy(config), demo: true },
  });
  const keys = keyLifecycle('keys', { ...parts, config, stores, master });
  const ring = await openKeyRing(keys, ['ES256']);
  const ready = () => stores.ping();
  const ofServer = (one: Stores) =>
    createRecorder({ ...parts, stores: one, config }, { who: 'server', how: 'start' });
  const documents = createDocumentClients(
    { ...parts, stores, config, recorder: ofServer(stores) },
    documentNetwork(config),
  );
  const seen: Stores = { ...stores, clients: { ...stores.clients, get: documents.get } };
  const server: AuthzServer = {
    ...parts,
    config,
    stores: seen,
    documents,
    sources: await openSources(config, parts.clock),
    documentNetwork: documentNetwork(config),
    feed,
    master,
    ready,
    ending: new AbortController().signal,
    directory,
    recorder: ofServer(seen),
    passwords,
    realms: [],
    longestLife: life,
    development,
    demoClients: true,
    sendPush: openPush(config),
  };
  const handler = createApp(server, createEngine(server, ring, silentLog), silentLog);
  const listening = await listen({ host: '127.0.0.1', port: 0, handler, log: silentLog });
  const url = `http://127.0.0.1:${listening.port}`;
  return {
    url,
    server,
    ring,
    hashings: () => hashed,
    browser: () => new TestBrowser(url, config.issuer),

    authorize(params = {}) {
      const query = new URLSearchParams({
        client_id: WEB.client_id,
        response_type: 'code',
        redirect_uri: CALLBACK,
        scope: 'openid documents:read documents:write',
        state: 'the state',
        code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
        code_challenge_method: 'S256',
        ...params,
      });
      for (const [name, value] of Object.entries(params)) if (value === '') query.delete(name);
      return `${config.issuer}/auth?${query.toString()}`;
    },

    async redeem(page) {
      const code = answerIn(page).get('code') ?? '';
      const form = new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: WEB.client_id,
        redirect_uri: CALLBACK,
        code_verifier: VERIFIER,
        code,
      });
      const response = await fetched(`${url}/token`, { method: 'POST', body: form });
      return (await response.json()) as Record<string, unknown>;
    },

    async [Symbol.asyncDispose]() {
      await listening.close(0);
      await feed[Symbol.asyncDispose]();
      await stores[Symbol.asyncDispose]();
    },
  };
}

/** Returns the parameters with which the browser returns to the client. Throws if it does not return there. */
export function answerIn(page: Page): URLSearchParams {
  const location = page.headers.get('location') ?? '';
  if (!location.startsWith(CALLBACK)) throw new Error(`${page.status} ${page.url}: ${page.text}`);
  return new URL(location).searchParams;
}

/** Returns the claims of a token without checking them. */
export function claimsOf(token: unknown): Record<string, unknown> {
  const [, payload = ''] = String(token).split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
}
