import { createHash } from 'node:crypto';
import { exportJWK } from 'jose';
import type { CryptoKey } from 'jose';
import supertest from 'supertest';
import { systemClock } from '#shared/base/clock.ts';
import type { Clock } from '#shared/base/clock.ts';
import { configSchema } from '#shared/config/schema.ts';
import type { Config } from '#shared/config/schema.ts';
import { silentLog } from '#shared/base/log.ts';
import type { Log } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { StoredKey } from '#shared/stores/keys/keys.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openStores } from '#shared/stores/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { listen } from '#shared/server/listen/listen.ts';
import { composeAuthorizationServer } from '../compose.ts';

export const DOCUMENTS = 'https://api.example/documents/';
export const SECRET = 'a secret of the test';

/** Returns a client that signs its assertions with ES256 (RFC 7523). */
export async function signer(publicKey: CryptoKey): Promise<ClientRecord> {
  return {
    client_id: 'signer',
    client_name: 'Signer',
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] },
    scope: 'documents:read',
    created_at: 0,
  };
}

const SPACES = [
  {
    url: DOCUMENTS,
    realm: 'documents',
    schemes: ['Bearer', 'DPoP'],
    scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
  },
  {
    url: 'https://rsa.example/',
    realm: 'rsa',
    schemes: ['Bearer'],
    scopes: { safe: ['rsa'] },
    alg: 'RS256',
  },
  {
    url: 'https://ed.example/',
    realm: 'ed',
    schemes: ['Bearer'],
    scopes: { safe: ['ed'] },
    alg: 'EdDSA',
  },
];

export const APP: ClientRecord = {
  client_id: 'app',
  client_name: 'App',
  grant_types: ['client_credentials'],
  token_endpoint_auth_method: 'client_secret_basic',
  secret_hash: createHash('sha256').update(SECRET).digest('base64url'),
  scope: 'documents:read documents:write rsa ed',
  default_scope: 'documents:read',
  created_at: 0,
};

export interface TestAuthz extends AsyncDisposable {
  readonly url: string;
  readonly config: Config;
  readonly stores: Stores;
  readonly master: Buffer;
  post(
    path: string,
    form: Record<string, string> | [string, string][],
    fields?: Record<string, string>,
  ): Promise<Answered>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

export const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
});

export const asApp = basic('app', SECRET);

/** One key for all servers of a suite, since its generation takes longer than most of their tests. */
let rsaKey: StoredKey | undefined;

/** Starts the authorization server on the embedded store and a free port, with the client `app`. */
export async function testAuthz(
  settings: Readonly<Record<string, unknown>> = {},
  clock: Clock = systemClock,
  log: Log = silentLog,
): Promise<TestAuthz> {
  const data = await storeFolder();
  const config = configSchema.parse({
    spaces: SPACES,
    data,
    ...settings,
  });
  const master = Buffer.alloc(32, 7);
  const stores = await openStores(config, {
    clock,
    random: systemRandom,
    log: silentLog,
  });
  await stores.clients.add(APP);
  await stores.revocations.epoch(true);
  const feed = await stores.revocations.feed();
  const ready = () => stores.ping();
  const parts = {
    config,
    stores,
    feed,
    master,
    clock,
    random: systemRandom,
    log,
    ready,
    ending: new AbortController().signal,
  };
  const now = clock.now();
  if (rsaKey) await stores.keys.add({ ...rsaKey, publishedAt: now, signsFrom: now }, 'RS256');
  const { handler } = await composeAuthorizationServer(parts);
  rsaKey ??= (await stores.keys.list()).find(({ alg }) => alg === 'RS256');
  const server = await listen({ host: '127.0.0.1', port: 0, handler, log: silentLog });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    config,
    stores,
    master,
    async post(path, form, fields = {}) {
      const request = supertest(url).post(path).type('form').set(fields);
      const { status, headers, body } = await request.send(new URLSearchParams(form).toString());
      return { status, headers: new Headers(headers), body };
    },
    async [Symbol.asyncDispose]() {
      await server.close(0);
      await feed[Symbol.asyncDispose]();
      await stores[Symbol.asyncDispose]();
    },
  };
}
