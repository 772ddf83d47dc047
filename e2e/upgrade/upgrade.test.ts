import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose';
import {
  asApp,
  basic,
  DOCUMENTS,
  SECRET,
  testAuthz,
} from '../../authz-server/integration/authz.fixture.ts';
import type { TestAuthz } from '../../authz-server/integration/authz.fixture.ts';
import { CALLBACK, redemption, sent } from '../../authz-server/integration/code-flow.fixture.ts';
import { engineAdapter } from '../../authz-server/engine/adapter.ts';
import { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import { DIGEST_KINDS } from '#shared/auth/schemes/digest/verifier.ts';
import { scramKeys } from '#shared/auth/schemes/scram/keys.ts';
import { parseScramKeys } from '#shared/auth/schemes/scram/verifier.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import { keptJwk } from '#shared/jose/key-fingerprint.ts';
import { keyLifecycle, listKeys, privateJwk } from '#shared/keys/signing-key-lifecycle.ts';
import { GENERATE, listTokenKeys, openTokenKey } from '#shared/keys/token-key-lifecycle.ts';
import { findAccess } from '#shared/people/access/grants.ts';
import { apiKeySecretHash, parseApiKey } from '#shared/people/api-key.ts';
import { importedKey } from '#shared/people/public-key.ts';
import { edit, somePerson } from '#shared/stores/contract/samples.ts';
import { silentLog } from '#shared/base/log.ts';
import { spreadRedis } from '#shared/stores/redis/spread.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { startCluster } from '../parts/redis-cluster.ts';
import { startRedis } from '../parts/redis.ts';
import { formerFolder, held, KEYED, loadFormerKeys, WRITTEN_AT } from './fixture.ts';
import type { Commit, Held, HeldSince } from './fixture.ts';

const ISSUER = { issuer: 'https://auth.example', resource: 'https://api.example' };
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
/** Seconds for which the servers were stopped. */
const STOPPED = 20;

interface Former extends AsyncDisposable {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly held: Held;
}

const STORES: readonly (readonly [name: string, load: (commit: Commit) => Promise<Former>])[] = [
  [
    'SQLite',
    async (commit) => ({
      settings: { data: await formerFolder(commit) },
      held: held(commit, 'sqlite'),
      [Symbol.asyncDispose]: async () => {},
    }),
  ],
  [
    'Redis',
    async (commit) => {
      const redis = await startRedis();
      await loadFormerKeys(commit, async () => redis);
      return {
        settings: { store: { kind: 'redis', urls: [redis.url], deadline: 10 } },
        held: held(commit, 'redis'),
        [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
      };
    },
  ],
  ['Redis Cluster', onCluster],
  [
    'Redis Cluster, moved to many slots',
    async (commit) => {
      await using parts = new AsyncDisposableStack();
      const former = parts.use(await onCluster(commit));
      const { store } = former.settings;
      const moved = await spreadRedis(
        { ...store, mode: 'cluster', master: '', prefix: 'cs' },
        {
          random: systemRandom,
          log: silentLog,
          refuse: async () => {},
          wait: async () => {},
          tell: () => {},
        },
      );
      expect(moved).toBeGreaterThan(10);
      const kept = parts.move();
      return { ...former, [Symbol.asyncDispose]: () => kept.disposeAsync() };
    },
  ],
];

async function onCluster(commit: Commit) {
  const cluster = await startCluster();
  await loadFormerKeys(commit, cluster.ownerOf);
  const { urls } = cluster;
  const kind = 'redis' as const;
  return {
    settings: { store: { kind, mode: 'cluster', urls, replicas: 0, deadline: 10 } },
    held: held(commit, kind),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

const COMMITS: readonly Commit[] = ['8fcad38', 'f9bf1a6'];
const ROWS = COMMITS.flatMap((commit) => STORES.map(([name, load]) => ({ commit, name, load })));

describe.each(ROWS)('$name of commit $commit, opened by today’s code', ({ commit, name, load }) => {
  const clock = new ManualClock(WRITTEN_AT);
  let former: Former;
  let authz: TestAuthz;
  let known: Held;
  beforeAll(async () => {
    former = await load(commit);
    known = former.held;
    clock.advance(STOPPED);
    // The engine asks the system for the time.
    jest.spyOn(Date, 'now').mockImplementation(() => clock.now());
    const limits = { account: { burst: 1000, per: 1 } };
    authz = await testAuthz({ ...ISSUER, limits, ...former.settings }, clock);
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await authz[Symbol.asyncDispose]();
    await former[Symbol.asyncDispose]();
  });

  const access = () => ({ stores: authz.stores, clock, longestLife: 605 });
  const refresh = (refresh_token: string) =>
    authz.post('/token', { grant_type: 'refresh_token', client_id: 'web', refresh_token });
  const redeem = (code: string) => authz.post('/token', redemption(code));
  const poll = (device_code: string) =>
    authz.post('/token', { grant_type: DEVICE, client_id: 'tv', device_code });

  function browserWith(lines: readonly string[] = []): TestBrowser {
    const browser = new TestBrowser(authz.url, ISSUER.issuer);
    browser.plant({ cookies: lines.map((line) => ({ name: line.split('=', 1)[0] ?? '', line })) });
    return browser;
  }

  if (commit !== '8fcad38') {
    test('reports of caches, and a process that is followed: before both are outdated', async () => {
      const { cacheReports, followers } = authz.stores;
      expect(await cacheReports.all()).toEqual(new Map([['a process', '{"report":1}']]));
      const { epoch, settled, processes } = await followers.look();
      expect({ epoch, settled }).toEqual({ epoch: known.epoch, settled: true });
      expect(processes).toMatchObject([{ id: 'a process', lease: 1, beat: 1 }]);
    });
  }

  test('a code is exchanged, one that was used is not', async () => {
    expect(await redeem(known.codes.unused)).toMatchObject({ status: 200 });
    expect(await redeem(known.codes.used)).toMatchObject({ body: { error: 'invalid_grant' } });
  });

  test('a pushed authorization request (RFC 9126) gives a code', async () => {
    const query = new URLSearchParams({ client_id: 'web', request_uri: known.requestUri });
    const browser = browserWith(known.sessionCookies);
    const page = await browser.open(`/auth?${query.toString()}`);
    const answered = page.status === 200 ? await browser.submit(page, { decision: 'allow' }) : page;
    expect(await redeem(sent(answered).get('code') ?? '')).toMatchObject({ status: 200 });
  });

  test('a refresh token is redeemed, and so is what comes of it', async () => {
    const first = await refresh(known.refreshTokens.unused);
    expect(first).toMatchObject({
      status: 200,
      body: { scope: 'openid offline_access documents:read' },
    });
    expect(await refresh(String(first.body['refresh_token']))).toMatchObject({ status: 200 });
  });

  test('a refresh token whose grant was ended stays ended', async () => {
    expect(await refresh(known.refreshTokens.ended)).toMatchObject({
      body: { error: 'invalid_grant' },
    });
  });

  test('reuse of a refresh token is detected: its successor ends (RFC 9700 section 4.14.2)', async () => {
    const { used, successor } = known.refreshTokens;
    expect(await refresh(used)).toMatchObject({ body: { error: 'invalid_grant' } });
    expect(await refresh(successor)).toMatchObject({ body: { error: 'invalid_grant' } });
  });

  test('device codes: allowed, denied, and one that is allowed now', async () => {
    const { allowed, denied, pending } = known.devices;
    expect(await poll(allowed.device_code)).toMatchObject({ status: 200 });
    expect(await poll(denied.device_code)).toMatchObject({ body: { error: 'access_denied' } });
    expect(await poll(pending.device_code)).toMatchObject({
      body: { error: 'authorization_pending' },
    });
    const browser = browserWith(known.sessionCookies);
    const page = await browser.open(`/device?user_code=${pending.user_code}`);
    await browser.submit(page, { decision: 'allow' }, '/device');
    expect(await poll(pending.device_code)).toMatchObject({ status: 200 });
  });

  test('a browser is still signed in; one whose person ended everything is not', async () => {
    const account = await browserWith(known.sessionCookies).open('/account');
    expect(account.text).toContain('alice');
    const bobs = await browserWith(known.bobsCookies).open('/account');
    expect(bobs.text).toContain('type="password"');
  });

  test('a sign-in that was under way goes on, with the password of before', async () => {
    const browser = browserWith(known.interactionCookies);
    const page = await browser.open(known.interaction);
    const form = page.forms.find(({ action }) => action.endsWith('/login'));
    const person = { name: 'alice', password: known.password };
    const after = await browser.submit(page, person, form?.action);
    // The consent that the person gave meanwhile counts in this browser, too.
    const answered =
      after.forms.length > 0 ? await browser.submit(after, { decision: 'allow' }) : after;
    const answer = sent(answered);
    expect(await redeem(answer.get('code') ?? '')).toMatchObject({ status: 200 });
  });

  test('access tokens: the same keys, epoch and revocations', async () => {
    const response = await fetch(`${authz.url}/jwks`);
    const published = (await response.json()) as JSONWebKeySet;
    expect(published.keys.map(({ kid }) => kid)).toEqual(expect.arrayContaining([...known.kids]));
    await using feed = await authz.stores.revocations.feed();
    const view = await feed.latest();
    const standing = async (token: string) => {
      const options = { currentDate: new Date(clock.now()), audience: DOCUMENTS };
      const { payload, protectedHeader } = await jwtVerify(
        token,
        createLocalJWKSet(published),
        options,
      );
      const claims = { ...payload, kid: protectedHeader.kid } as unknown as RevocableClaims;
      return view.revokedBy(claims);
    };
    const { person, machine, revoked, ended } = known.accessTokens;
    const verdicts = await Promise.all([person, machine, revoked, ended].map(standing));
    expect(verdicts).toEqual([undefined, undefined, 'token', 'grant']);
    expect(view.generation(known.people.bob)).toBe(2);
    const { grant_id } = decodeJwt(ended);
    expect(await findAccess(access(), String(grant_id))).toBeUndefined();
  });

  test('a client is found by its key', async () => {
    const { keys } = JSON.parse(KEYED.record).jwks;
    const { x, ...jwk } = keys[0];
    const id = keptJwk({ ...jwk, x: x.slice('AAAA'.length) })?.id ?? '';
    expect(await authz.stores.clients.withKey(id)).toEqual([KEYED.client_id]);
  });

  test('clients with their secrets', async () => {
    const grant = { grant_type: 'client_credentials', resource: DOCUMENTS };
    expect(await authz.post('/token', grant, asApp)).toMatchObject({ status: 200 });
    const server = { grant_type: 'refresh_token', refresh_token: 'x' };
    const fields = basic('server', SECRET);
    expect(await authz.post('/token', server, fields)).toMatchObject({
      body: { error: 'invalid_grant' },
    });
    const { redirect_uris } = (await authz.stores.clients.get('web')) ?? {};
    expect(redirect_uris).toEqual([CALLBACK]);
  });

  test('people by name, alias and verifier; API keys', async () => {
    const { people, apiKeys } = authz.stores;
    const { bob } = known.people;
    expect(await people.getByAlias('kerberos:bob@EXAMPLE.COM')).toMatchObject({ id: bob });
    for (const [kind, realm] of [
      ['digest SHA-256', 'digest'],
      ['scram SHA-256', ''],
    ] as const) {
      const found = await people.getVerifier(kind, realm, { name: 'bob' });
      expect(found?.person.id).toBe(bob);
    }
    const { id = '', secret = '' } = parseApiKey(known.apiKey.key) ?? {};
    expect(await apiKeys.get(id)).toMatchObject({
      application: 'Weather station',
      secret_hash: apiKeySecretHash(secret),
    });
  });

  test('documents and their locks', async () => {
    const { stores } = authz;
    const view = await stores.trees.look('/documents', ['notes', 'notes/one.txt']);
    expect(view.entries.get('notes/one.txt')).toMatchObject({
      etag: 'e2',
      file: 'f2',
      properties: { '{urn:x}color': '<color xmlns="urn:x">red</color>' },
    });
    expect(view.locks).toMatchObject([{ token: 'urn:uuid:1', root: 'notes' }]);
    const at = clock.now();
    const move = { kind: 'move', from: 'notes', to: 'kept', at, longest: 1000 } as const;
    expect(await edit(stores, '/documents', [move])).toMatchObject({ kind: 'done' });
    const [moved] = await stores.trees.members('/documents', 'kept', '', 10);
    expect(moved).toMatchObject({ path: 'kept/one.txt', file: 'f2' });
  });

  test('keys and spent tokens of PrivateToken', async () => {
    const times = { rotation: 604_800, overlap: 604_800, maxAge: 86_400 };
    const keys = await listTokenKeys({ stores: authz.stores, clock, times });
    expect(keys.map(({ key: { type, id } }) => ({ type, id }))).toEqual(known.tokenKeys);
    expect(Object.keys(GENERATE)).toHaveLength(known.tokenKeys.length);
    for (const { key } of keys) expect(openTokenKey(authz.master, key).length).toBeGreaterThan(0);
    const until = WRITTEN_AT + 604_800_000;
    expect(await authz.stores.spentTokens.spend(Buffer.from('a token'), until)).toBe(false);
  });

  test('values that were seen are not new: proofs, client assertions, counts of Digest', async () => {
    const { stores, config, master } = authz;
    expect(await stores.replay.unique('dpop', 'a proof', 600)).toBe(false);
    const none = () => Promise.resolve(undefined);
    const adapter = engineAdapter({
      ...access(),
      config,
      master,
      random: systemRandom,
      directory: { find: none, authenticate: none },
      demoClients: true,
      documents: { current: (id) => stores.clients.get(id), stored: stores.clients },
    });
    expect(await adapter('ReplayDetection').find('an assertion')).toBeDefined();
    expect(await stores.useCounts.use('digest', 'a nonce', 3, 600)).toBe(false);
    expect(await stores.useCounts.use('digest', 'a nonce', 4, 600)).toBe(true);
  });

  test('sessions of schemes, kept queries and limits', async () => {
    const { sessions, kept, limits } = authz.stores;
    expect(await sessions.get('a session')).toEqual({ step: 1 });
    expect(await kept.get('an owner', known.query)).toBe('{"query":1}');
    const spent = [];
    for (let n = 0; n < 3; n += 1) {
      spent.push((await limits.spend('sign-in-name', 'a person', { burst: 3, per: 1000 })).ok);
    }
    expect(spent).toEqual([true, true, false]);
  });

  test('the verifiers of before are those of the password (RFC 7616 section 3.4.2, RFC 5802 section 3)', async () => {
    const verifier = async (kind: string, realm: string) =>
      (await authz.stores.people.getVerifier(kind, realm, { name: 'bob' }))?.value ?? '';
    const secret = { name: 'bob', realm: 'digest', password: known.password };
    expect(await verifier('digest SHA-256', 'digest')).toBe(
      await DIGEST_KINDS['SHA-256'].derive(secret, systemRandom),
    );
    const kept = parseScramKeys('SHA-256', await verifier('scram SHA-256', ''));
    expect(kept).toMatchObject(
      (await scramKeys('SHA-256', known.password, kept!.salt, kept!.iterations))!,
    );
  });

  if (commit === '8fcad38') return;

  test('keys of the gateway open, and a public key is its person’s', async () => {
    const { gatewayKids, publicKey } = known as HeldSince;
    const { stores, config, master } = authz;
    const life = keyLifecycle('gatewayKeys', {
      stores,
      config,
      master,
      clock,
      random: systemRandom,
    });
    const keys = await listKeys(life);
    expect(keys.map(({ key }) => key.kid)).toEqual(gatewayKids);
    for (const { key } of keys) expect(privateJwk(life, key)).toMatchObject({ kty: 'EC' });
    expect(await stores.publicKeys.get(publicKey.id)).toEqual(publicKey);
    expect(await stores.publicKeys.of(publicKey.owner)).toEqual([publicKey]);
    expect(importedKey(publicKey.spki).asymmetricKeyType).toBe('ed25519');
  });

  test('the name of a person who was removed is nobody’s', async () => {
    const { people } = authz.stores;
    expect(await people.getByName('carol')).toBeUndefined();
    expect(await people.isFormerName('carol')).toBe(true);
    expect(await people.isFormerName('dave')).toBe(false);
    expect(await people.add(somePerson('carol'), [])).toBe(false);
  });

  test('invalidations are listed', async () => {
    expect(await authz.stores.invalidations.list('target', 10)).toMatchObject([
      { space: '/app', value: '/app/a', soft: false },
    ]);
  });

  // Redis keeps no content.
  if (name !== 'SQLite') return;

  test('the content of a short document is read', async () => {
    expect(await authz.stores.trees.content('/documents', 'f3')).toEqual(Buffer.from('short'));
  });
});

test('SQLite: requests under way move to transient.db with all that is known of them', async () => {
  const folder = await formerFolder('8fcad38');
  const rows = (file: string) => {
    using database = new DatabaseSync(join(folder, file));
    return database
      .prepare(
        `SELECT kind, id, payload, uid, consumed, expires FROM artefact WHERE kind IN ('Interaction', 'PushedAuthorizationRequest') ORDER BY id`,
      )
      .all();
  };
  const before = rows('state.db');
  expect(before).toHaveLength(2);
  const opened = { folder, clock: new ManualClock(WRITTEN_AT), random: systemRandom };
  for (const stores of await Promise.all([openSqlite(opened), openSqlite(opened)])) {
    await stores[Symbol.asyncDispose]();
  }
  expect([rows('state.db'), rows('transient.db')]).toEqual([[], before]);
});
