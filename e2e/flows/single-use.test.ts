import { createRecorder } from '#shared/audit/recorder.ts';
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import type { Provider } from 'oidc-provider';
import { engineAdapter } from '../../authz-server/engine/adapter.ts';
import { withStepsBeforeGrant } from '../../authz-server/engine/provider.ts';
import { useHashedSecrets } from '../../authz-server/engine/clients/client-authentication.ts';
import { refusals } from '../../authz-server/engine/answers/error-answers.ts';
import { answering } from '../../authz-server/engine/refresh/engine-request.ts';
import { tokenSteps } from '../../authz-server/engine/token/token-request.ts';
import { systemClock } from '#shared/base/clock.ts';
import { configSchema } from '#shared/config/schema.ts';
import { silentLog } from '#shared/base/log.ts';
import type { AccessTokenClaims } from '#shared/jose/access-token-claims.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openStores } from '#shared/stores/open.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import { startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import type { Stores } from '#shared/stores/stores.ts';

/**
 * oidc-provider with our adapter: two instances on two connections, like two authorization server
 * processes. Everything for one use is used ten times at once.
 */
const RESOURCE = 'https://api.example/documents/';
const SECRET = 'a secret of the test';
const LIFE = 600;

interface Part {
  readonly open: () => Promise<Stores>;
  readonly end: () => Promise<void>;
}

const PARTS: Record<string, () => Promise<Part>> = {
  async sqlite() {
    const data = await mkdtemp(join(tmpdir(), 'countersign-'));
    return {
      open: () =>
        open({ store: { kind: 'sqlite' }, data, revocations: { lease: 0.2 }, tokens: { skew: 5 } }),
      end: () => rm(data, { recursive: true }),
    };
  },
  async postgres() {
    const shared = await startSharedStore();
    return {
      open: () =>
        open({ store: shared.store, data: '', revocations: { lease: 0.2 }, tokens: { skew: 5 } }),
      end: async () => shared[Symbol.asyncDispose](),
    };
  },
};

function open(spec: Parameters<typeof openStores>[0]): Promise<Stores> {
  return openStores(spec, {
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
  });
}

describe.each(Object.keys(PARTS))('on %s', (name) => {
  let part: Part;
  let stores: Stores[];
  let feeds: RevocationFeed[];
  let providers: Provider[];
  let urls: string[];
  let clientKey: { privateKey: CryptoKey; jwk: JWK };
  const closers: (() => void)[] = [];

  beforeAll(async () => {
    part = await (PARTS[name] ?? fail)();
    stores = [await part.open(), await part.open()];
    const [first] = stores as [Stores];
    await first.revocations.epoch(true);
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    clientKey = { privateKey, jwk: await exportJWK(publicKey) };
    await first.clients.add({
      client_id: 'app',
      client_name: 'App',
      grant_types: [
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      token_endpoint_auth_method: 'client_secret_basic',
      secret_hash: createHash('sha256').update(SECRET).digest('base64url'),
      scope: 'documents:read',
      redirect_uris: ['https://app.example/back'],
      created_at: 0,
    });
    await first.clients.add({
      client_id: 'machine',
      client_name: 'Machine',
      grant_types: ['client_credentials'],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...clientKey.jwk, alg: 'ES256' }] },
      scope: 'documents:read',
      created_at: 0,
    });
    const signing = { ...(await exportJWK(privateKey)), kid: 'k', alg: 'ES256', use: 'sig' };
    feeds = await Promise.all(stores.map((store) => store.revocations.feed()));
    providers = stores.map((store, at) => createEngine(store, feeds[at] ?? fail(), signing));
    urls = [];
    for (const provider of providers) {
      const callback = provider.callback();
      const server = createServer((request, response) => void callback(request, response));
      server.listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      closers.push(() => server.close());
    }
  });

  afterAll(async () => {
    for (const close of closers) close();
    for (const feed of feeds ?? []) await feed[Symbol.asyncDispose]();
    for (const store of stores ?? []) await store[Symbol.asyncDispose]();
    await part?.end();
  });

  function createEngine(store: Stores, feed: RevocationFeed, signing: object): Provider {
    const config = configSchema.parse({ tokens: { refreshGrace: 0 } });
    const parts = { stores: store, clock: systemClock, log: silentLog, config };
    const server = {
      stores: store,
      recorder: createRecorder(parts, { who: 'server', how: 'start' }),
      feed,
      clock: systemClock,
      random: systemRandom,
      longestLife: LIFE,
      demoClients: false,
      documents: { current: (id: string) => store.clients.get(id), stored: store.clients },
      config,
      master: Buffer.alloc(32),
      directory: {
        find: (id: string) => Promise.resolve({ id, name: id }),
        authenticate: () => Promise.resolve(undefined),
      },
    };
    const steps = tokenSteps(server, silentLog);
    const Engine = withStepsBeforeGrant([...steps.limits, ...steps.grant]);
    const provider = new Engine('https://auth.example', {
      adapter: engineAdapter(server),
      jwks: { keys: [signing] },
      clientAuthMethods: ['client_secret_basic', 'private_key_jwt'],
      clientDefaults: { id_token_signed_response_alg: 'ES256' },
      enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
      findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
      issueRefreshToken: () => true,
      rotateRefreshToken: true,
      ttl: {
        AccessToken: LIFE,
        ClientCredentials: LIFE,
        DeviceCode: LIFE,
        Grant: LIFE,
        RefreshToken: LIFE,
      },
      extraTokenClaims: (_ctx, token) => ({
        epoch: 'e',
        client_gen: 0,
        ...('grantId' in token && { grant_id: token.grantId }),
      }),
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        deviceFlow: { enabled: true },
        dPoP: { enabled: true, allowReplay: true, nonceSecret: Buffer.alloc(32, 1) },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => RESOURCE,
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({
            scope: 'documents:read',
            audience: RESOURCE,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } },
          }),
        },
      },
      routes: { token: '/token' },
    });
    useHashedSecrets(provider, server);
    provider.use(refusals({ ...server, development: false }));
    provider.use(answering(steps.answer));
    return provider;
  }

  /** Sends one form ten times at once, alternately to both instances. */
  async function tenTimes(form: Record<string, string>, fields: Record<string, string> = {}) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, turn) => {
        const response = await fetch(`${urls[turn % 2]}/token`, {
          method: 'POST',
          headers: fields,
          body: new URLSearchParams(form),
        });
        return { status: response.status, body: (await response.json()) as Answer };
      }),
    );
    return {
      winners: answers.filter(({ status }) => status === 200).map(({ body }) => body),
      losers: answers.filter(({ status }) => status !== 200),
    };
  }

  type Answer = { access_token: string; refresh_token: string; error?: string };
  const basic = `Basic ${Buffer.from(`app:${encodeURIComponent(SECRET)}`).toString('base64')}`;

  async function newGrant(): Promise<string> {
    const [provider] = providers as [Provider];
    const grant = new provider.Grant({ clientId: 'app', accountId: 'alice' });
    grant.addResourceScope(RESOURCE, 'documents:read');
    return grant.save();
  }

  async function common() {
    const [provider] = providers as [Provider];
    const client = await provider.Client.find('app');
    if (client === undefined) throw new Error('the client is missing');
    return {
      client,
      accountId: 'alice',
      grantId: await newGrant(),
      scope: 'documents:read',
      resource: RESOURCE,
      gty: 'authorization_code',
    };
  }

  async function grantIsRevoked(token: string): Promise<void> {
    const [store] = stores as [Stores];
    await using feed = await store.revocations.feed();
    await untilTrusted(() => feed.current());
    const claims = decodeJwt<AccessTokenClaims>(token);
    const epoch = feed.status().epoch ?? '';
    expect(feed.current().revokedBy({ ...claims, kid: 'k', epoch })).toBe('grant');
  }

  test('RFC 6749 section 4.1.2: if a code is used ten times at once, one use succeeds, and its tokens are revoked', async () => {
    const [provider] = providers as [Provider];
    const verifier = randomUUID() + randomUUID();
    const code = new provider.AuthorizationCode({
      ...(await common()),
      redirectUri: 'https://app.example/back',
      codeChallenge: createHash('sha256').update(verifier).digest('base64url'),
      codeChallengeMethod: 'S256',
    });
    const { winners, losers } = await tenTimes(
      {
        grant_type: 'authorization_code',
        code: await code.save(),
        code_verifier: verifier,
        redirect_uri: 'https://app.example/back',
      },
      { authorization: basic },
    );
    expect(winners).toHaveLength(1);
    expect(new Set(losers.map(({ body }) => body.error))).toEqual(new Set(['invalid_grant']));
    for (const { access_token, refresh_token } of winners) {
      await grantIsRevoked(access_token);
      const refreshed = await tenTimes(
        { grant_type: 'refresh_token', refresh_token },
        { authorization: basic },
      );
      expect(refreshed.winners).toEqual([]);
    }
  });

  test('RFC 9700 section 4.14.2: if a refresh token is used ten times at once, one use succeeds, and the grant ends', async () => {
    const [provider] = providers as [Provider];
    const token = new provider.RefreshToken(await common());
    const { winners, losers } = await tenTimes(
      { grant_type: 'refresh_token', refresh_token: await token.save() },
      { authorization: basic },
    );
    expect(winners).toHaveLength(1);
    expect(new Set(losers.map(({ body }) => body.error))).toEqual(new Set(['invalid_grant']));
    for (const { access_token } of winners) await grantIsRevoked(access_token);
  });

  test('RFC 8628 section 3.5: if an approved device code is used ten times at once, one use succeeds', async () => {
    const [provider] = providers as [Provider];
    const code = new provider.DeviceCode({
      ...(await common()),
      userCode: randomUUID(),
      params: {},
    } as never);
    const { winners, losers } = await tenTimes(
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: await code.save(),
      },
      { authorization: basic },
    );
    expect(winners).toHaveLength(1);
    expect(new Set(losers.map(({ body }) => body.error))).toEqual(new Set(['invalid_grant']));
  });

  test('RFC 9449 section 11.1: if a proof is used ten times at once, one use succeeds', async () => {
    const key = await generateKeyPair('ES256', { extractable: true });
    const results = await Promise.all(
      urls.map(async (url) => {
        const proof = await new SignJWT({ htm: 'POST', htu: `${url}/token`, jti: randomUUID() })
          .setProtectedHeader({
            typ: 'dpop+jwt',
            alg: 'ES256',
            jwk: await exportJWK(key.publicKey),
          })
          .setIssuedAt()
          .sign(key.privateKey);
        return Promise.all(
          Array.from({ length: 10 }, async () => {
            const response = await fetch(`${url}/token`, {
              method: 'POST',
              headers: { authorization: basic, dpop: proof },
              body: new URLSearchParams({
                grant_type: 'client_credentials',
                scope: 'documents:read',
              }),
            });
            return response.status;
          }),
        );
      }),
    );
    for (const statuses of results) {
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.filter((status) => status === 400)).toHaveLength(9);
    }
  });

  test('RFC 7523 section 3: if a client assertion is used ten times at once, one use succeeds, and nine get invalid_client', async () => {
    const now = Math.floor(systemClock.now() / 1000);
    const assertion = await new SignJWT({
      iss: 'machine',
      sub: 'machine',
      aud: 'https://auth.example',
      jti: randomUUID(),
      iat: now,
      exp: now + 60,
    })
      .setProtectedHeader({ alg: 'ES256' })
      .sign(clientKey.privateKey);
    const { winners, losers } = await tenTimes({
      grant_type: 'client_credentials',
      scope: 'documents:read',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    });
    expect(winners).toHaveLength(1);
    expect(new Set(losers.map(({ body }) => body.error))).toEqual(new Set(['invalid_client']));
  });
});

function fail(): never {
  throw new Error('no such store');
}

/** A newly opened feed may still be reading. */
async function untilTrusted(current: () => unknown): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      current();
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
