import { createPrivateKey } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { KeysUnavailable } from '#shared/auth/issuer-keys.ts';
import { ManualClock } from '#shared/clock.ts';
import { configSchema } from '#shared/config/schema.ts';
import { temporaryFolder } from '#shared/config/temporary.fixture.ts';
import { silentLog } from '#shared/log.ts';
import { longestLife } from '#shared/oauth/lifetime.ts';
import { blindRsa } from '#shared/private-token/blind-rsa-client.ts';
import { blindSign, generateBlindRsaKey } from '#shared/private-token/blind-rsa.ts';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import { secret } from '#shared/private-token/resource-server-client.ts';
import { serverNameOf } from '#shared/private-token/server-name.ts';
import {
  GENERATE,
  keepTokenKeys,
  listTokenKeys,
  openTokenKey,
} from '#shared/private-token/token-key-lifecycle.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';
import { evaluate, generateVoprfKey } from '#shared/private-token/voprf.ts';
import { openVoprfThreads } from '#shared/private-token/voprf-threads.ts';
import { systemRandom } from '#shared/random.ts';
import { openStores } from '#shared/stores/open.ts';
import {
  type Answers,
  directoryOf,
  json,
  readableLog,
  startIssuer,
  tokenFor,
  trusting,
  WRONG,
} from './issuer.fixture.ts';
import { openIssuers } from './open-issuers.ts';
import { openSend } from './send.ts';

const LIFE = 1200;
const ROTATION = 1000;
const OVERLAP = 500;
const COOLDOWN = 30;
const voprfKey = generateVoprfKey();
let rsaKey: TokenKeyPair;
beforeAll(async () => {
  rsaKey = await generateBlindRsaKey();
});

type Paths = Readonly<Record<string, Answers>>;

const routed =
  (paths: Paths): Answers =>
  (response, asked) =>
    (paths[asked.url ?? ''] ?? WRONG['says 404'])(response, asked);

/** An authorization server and issuer at one origin, and a resource server that knows it. */
async function setup(verification: 'issuer' | 'store' = 'issuer') {
  const clock = new ManualClock();
  const notBefore = clock.now() / 1000;
  const stack = new AsyncDisposableStack();
  const paths = {
    [DIRECTORY_PATH]: directoryOf([
      { ...rsaKey, notBefore, notAfter: notBefore + LIFE },
      { ...voprfKey, notBefore, notAfter: notBefore + LIFE },
    ]),
    '/token': json({ access_token: 'access', token_type: 'Bearer', expires_in: 600 }),
    '/private-token/verify': json({ valid: true }),
  };
  const pair = stack.use(await startIssuer(routed(paths)));
  const config = configSchema.parse({
    data: await temporaryFolder(),
    issuer: pair.origin,
    jwks: { cooldown: COOLDOWN },
    privateTokens: { issuer: pair.origin, rotation: ROTATION, overlap: OVERLAP, verification },
  });
  const life = longestLife(config);
  const parts = { clock, random: systemRandom, log: silentLog, longestLife: life };
  const stores = stack.use(await openStores(config, parts));
  const voprf = stack.use(openVoprfThreads({ threads: 1 }));
  const master = systemRandom(32);
  const { log, lines } = readableLog();
  const trust = trusting();
  const memory: { epoch: string | undefined } = { epoch: 'first' };
  const revocations = { ...stores.revocations, epoch: async () => memory.epoch };
  const options = {
    config,
    stores: { ...stores, revocations },
    master,
    clock,
    log,
    voprf,
    send: trust,
    sendToPair: trust,
  };
  return {
    options,
    memory,
    issuers: openIssuers(options),
    paths,
    pair,
    notBefore,
    lines,
    use: stack.use.bind(stack),
    /** Paths that were asked for, in order. */
    asked: () => pair.asked.map(({ url }) => url),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** A token of type 0x0002 that the issuer has signed. */
function signed(pair: TokenKeyPair) {
  const token = tokenFor(pair);
  const { blinded, finalize } = blindRsa(pair.publicKey, token.input, systemRandom);
  const key = createPrivateKey({ key: pair.privateKey, format: 'der', type: 'pkcs8' });
  const authenticator = finalize(blindSign(key, blinded) ?? Buffer.alloc(0));
  return authenticator && { ...token, authenticator };
}

describe("this pair's issuer", () => {
  test('RFC 9577 section 2.1.1.1: has its host and port for a name, and is one for all', async () => {
    await using world = await setup();
    const issuer = world.issuers(undefined);
    expect(issuer.name).toBe(serverNameOf(world.pair.origin));
    expect(world.issuers(undefined)).toBe(issuer);
    expect(world.issuers(issuer.name)).toBe(issuer);
    expect(world.asked()).toEqual([]);
  });

  test('its keys end when its directory says', async () => {
    await using world = await setup();
    const until = (world.notBefore + LIFE) * 1000;
    for (const key of [rsaKey, voprfKey]) {
      const keys = await world.issuers(undefined).keys(key.type);
      expect(keys).toMatchObject([{ id: key.id, until }]);
    }
    expect(world.asked()).toEqual([DIRECTORY_PATH]);
  });

  test('a key that was fetched before the store lost its memory is not good any more', async () => {
    await using world = await setup();
    const issuer = world.issuers(undefined);
    expect(await issuer.key(BLIND_RSA, rsaKey.id)).toBeDefined();
    world.memory.epoch = undefined;
    await expect(issuer.key(BLIND_RSA, rsaKey.id)).rejects.toThrow(KeysUnavailable);
    await expect(issuer.keys(BLIND_RSA)).rejects.toThrow(KeysUnavailable);
    world.memory.epoch = 'second';
    world.paths[DIRECTORY_PATH] = directoryOf([]);
    expect(await issuer.key(BLIND_RSA, rsaKey.id)).toBeUndefined();
    expect(world.asked()).toEqual([DIRECTORY_PATH, DIRECTORY_PATH]);
  });

  test('nor is one that was being fetched meanwhile', async () => {
    await using world = await setup();
    const issuer = world.issuers(undefined);
    const old = world.paths[DIRECTORY_PATH];
    const late = Promise.withResolvers<void>();
    world.paths[DIRECTORY_PATH] = (response, asked) =>
      void late.promise.then(() => old(response, asked));
    const asking = issuer.key(BLIND_RSA, rsaKey.id);
    while (world.asked().length === 0) await setImmediate();
    world.memory.epoch = 'second';
    world.paths[DIRECTORY_PATH] = directoryOf([]);
    const again = issuer.key(BLIND_RSA, rsaKey.id);
    late.resolve();
    const answers = await Promise.allSettled([asking, again]);
    expect(answers.every((one) => one.status === 'rejected' || one.value === undefined)).toBe(true);
  });

  test('verifies blind RSA here', async () => {
    await using world = await setup();
    const issuer = world.issuers(undefined);
    const key = await issuer.key(BLIND_RSA, rsaKey.id);
    const token = signed(rsaKey);
    expect(key && token && (await issuer.verify(token, key))).toBe(true);
    expect(key && (await issuer.verify(tokenFor(rsaKey), key))).toBe(false);
    expect(world.asked()).toEqual([DIRECTORY_PATH]);
  });

  test('verifies VOPRF at the issuer, as the client that both know, for its resource', async () => {
    await using world = await setup();
    const issuer = world.issuers(undefined);
    const key = await issuer.key(VOPRF, voprfKey.id);
    expect(key && (await issuer.verify(tokenFor(voprfKey), key))).toBe(true);
    expect(world.asked()).toEqual([DIRECTORY_PATH, '/token', '/private-token/verify']);
    const [, token, verify] = world.pair.asked;
    const client = btoa(`resource-server:${secret(world.options.master)}`);
    expect(token?.headers.authorization).toBe(`Basic ${client}`);
    expect(Object.fromEntries(new URLSearchParams(token?.content.toString()))).toEqual({
      grant_type: 'client_credentials',
      resource: `${world.pair.origin}/private-token/verify`,
      scope: 'private-token:verify',
    });
    expect(verify?.headers.authorization).toBe('Bearer access');
  });

  test('fifty tokens at once cost one access token', async () => {
    await using world = await setup();
    const issuer = world.issuers(undefined);
    const verified = Array.from({ length: 50 }, async () => {
      const key = await issuer.key(VOPRF, voprfKey.id);
      return key && issuer.verify(tokenFor(voprfKey), key);
    });
    expect((await Promise.all(verified)).every(Boolean)).toBe(true);
    expect(world.asked().filter((url) => url === '/token')).toHaveLength(1);
  });

  test('verifies VOPRF by the keys in the store where that is configured', async () => {
    await using world = await setup('store');
    const { stores, master, clock, config } = world.options;
    const times = { rotation: ROTATION, overlap: OVERLAP, maxAge: 100 };
    const life = { stores, master, clock, random: systemRandom, times, generate: GENERATE };
    await keepTokenKeys(life, await listTokenKeys(life));
    const stored = (await listTokenKeys(life)).find(({ key }) => key.type === VOPRF)?.key;
    if (stored === undefined) throw new Error('there is no key');
    const publicKey = Buffer.from(stored.publicKey, 'base64url');
    const id = Buffer.from(stored.id, 'base64url');
    world.paths[DIRECTORY_PATH] = directoryOf([{ type: VOPRF, publicKey, id }]);
    expect(config.privateTokens?.verification).toBe('store');

    const issuer = world.issuers(undefined);
    const key = await issuer.key(VOPRF, id);
    const token = tokenFor({ type: VOPRF, publicKey, id });
    const authenticator = evaluate(openTokenKey(master, stored), token.input);
    expect(key && (await issuer.verify({ ...token, authenticator }, key))).toBe(true);
    expect(key && (await issuer.verify(token, key))).toBe(false);
    expect(world.asked()).toEqual([DIRECTORY_PATH]);
  });

  test('privateTokens.url: all goes there, and its name and endpoints stay the public ones', async () => {
    await using world = await setup();
    const issuer = 'https://auth.example';
    const config = configSchema.parse({
      ...world.options.config,
      issuer,
      privateTokens: { issuer },
    });
    const sendToPair = trusting(undefined, world.pair.origin);
    const found = openIssuers({ ...world.options, config, sendToPair })(undefined);
    world.paths[DIRECTORY_PATH] = directoryOf([voprfKey], 'max-age=600', `${issuer}/request`);
    expect(found.name).toBe('auth.example');
    const key = await found.key(VOPRF, voprfKey.id);
    expect(key && (await found.verify(tokenFor(voprfKey), key))).toBe(true);
    expect(world.asked()).toEqual([DIRECTORY_PATH, '/token', '/private-token/verify']);
    const { content } = world.pair.asked[1] ?? {};
    expect(new URLSearchParams(content?.toString()).get('resource')).toBe(
      `${issuer}/private-token/verify`,
    );
  });

  test('RFC 9578 section 4: nor does a directory from inside name another origin', async () => {
    await using world = await setup();
    const issuer = 'https://auth.example';
    const config = configSchema.parse({
      ...world.options.config,
      issuer,
      privateTokens: { issuer },
    });
    const sendToPair = trusting(undefined, world.pair.origin);
    const requestUrl = `${world.pair.origin}/private-token/request`;
    world.paths[DIRECTORY_PATH] = directoryOf([voprfKey], 'max-age=600', requestUrl);
    const found = openIssuers({ ...world.options, config, sendToPair })(undefined);
    await expect(found.keys(VOPRF)).rejects.toThrow(KeysUnavailable);
  });

  test('its certificate is not trusted: nothing is asked, nothing is good', async () => {
    await using world = await setup();
    const issuers = openIssuers({ ...world.options, sendToPair: openSend() });
    await expect(issuers(undefined).keys(BLIND_RSA)).rejects.toThrow(KeysUnavailable);
    expect(world.asked()).toEqual([]);
    expect(world.lines).toMatchObject([{ event: 'private-token.directory' }]);
  });

  test('there is none where it is not configured', async () => {
    await using world = await setup();
    const { privateTokens: _, ...config } = world.options.config;
    const issuers = openIssuers({ ...world.options, config });
    expect(() => issuers(undefined)).toThrow('privateTokens');
  });
});

describe('another issuer', () => {
  test('RFC 9578 section 4: is found by its name, and its keys are good for thirty days', async () => {
    await using world = await setup();
    const { notBefore } = world;
    const other = world.use(await startIssuer(directoryOf([{ ...rsaKey, notBefore }])));
    const issuer = world.issuers(serverNameOf(other.origin));
    const until = (notBefore + 30 * 86_400) * 1000;
    expect(await issuer.keys(BLIND_RSA)).toMatchObject([{ id: rsaKey.id, until }]);
    expect(other.asked.map(({ url }) => url)).toEqual([DIRECTORY_PATH]);
    expect(world.asked()).toEqual([]);
  });

  test('a key without not-before has no end', async () => {
    await using world = await setup();
    const other = world.use(await startIssuer(directoryOf([rsaKey])));
    const keys = await world.issuers(serverNameOf(other.origin)).keys(BLIND_RSA);
    expect(keys).toMatchObject([{ id: rsaKey.id, until: undefined }]);
  });

  test('RFC 9578 section 5.4: nothing of VOPRF is taken of it', async () => {
    await using world = await setup();
    const other = world.use(await startIssuer(directoryOf([voprfKey])));
    const issuer = world.issuers(serverNameOf(other.origin));
    expect(await issuer.keys(VOPRF)).toEqual([]);
    expect(await issuer.key(VOPRF, voprfKey.id)).toBeUndefined();
    const key = { ...voprfKey, until: undefined };
    expect(await issuer.verify(tokenFor(voprfKey), key)).toBe(false);
    expect([...other.asked, ...world.asked()]).toEqual([]);
  });

  test('is not trusted for the certificate of this pair', async () => {
    await using world = await setup();
    const other = world.use(await startIssuer(directoryOf([rsaKey])));
    const issuers = openIssuers({ ...world.options, send: openSend() });
    const issuer = issuers(serverNameOf(other.origin));
    await expect(issuer.keys(BLIND_RSA)).rejects.toThrow(KeysUnavailable);
    expect(other.asked).toEqual([]);
  });

  test('its keys are not those of this pair', async () => {
    await using world = await setup();
    const other = world.use(await startIssuer(directoryOf([])));
    const issuer = world.issuers(serverNameOf(other.origin));
    expect(await issuer.key(BLIND_RSA, rsaKey.id)).toBeUndefined();
    expect(await world.issuers(undefined).key(BLIND_RSA, rsaKey.id)).toBeDefined();
  });
});
