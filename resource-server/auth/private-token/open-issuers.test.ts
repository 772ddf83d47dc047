import { createPrivateKey } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { ALONE } from '#shared/base/line.ts';
import { KeysUnavailable } from '#shared/auth/tokens/issuer-keys.ts';
import { configSchema } from '#shared/config/schema.ts';
import { blindRsa } from '#shared/private-token/blind-rsa-client.ts';
import { blindSign } from '#shared/private-token/blind-rsa.ts';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import { secret } from '#shared/config/resource-server-client.ts';
import { serverNameOf } from '#shared/private-token/server-name.ts';
import {
  GENERATE,
  keepTokenKeys,
  listTokenKeys,
  openTokenKey,
} from '#shared/keys/token-key-lifecycle.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';
import { evaluate } from '#shared/private-token/voprf.ts';
import { systemRandom } from '#shared/base/random.ts';
import { directoryOf, json, startIssuer, tokenFor, trusting } from './issuer.fixture.ts';
import { LIFE, OVERLAP, ROTATION, rsaKey, setup, voprfKey } from './open-issuers.fixture.ts';
import { openIssuers } from './open-issuers.ts';
import { openSend } from '#shared/client/send.ts';

/** A token of type 0x0002 that the issuer has signed. */
function signed(pair: TokenKeyPair) {
  const token = tokenFor(pair);
  const { blinded, finalize } = blindRsa(pair.publicKey, token.input, systemRandom);
  const key = createPrivateKey({ key: pair.privateKey, format: 'der', type: 'pkcs8' });
  const authenticator = finalize(blindSign(key, blinded) ?? Buffer.alloc(0));
  return authenticator && { ...token, authenticator };
}

const PUBLIC = 'https://auth.example';

/** The issuer as reached by its internal URL, under a public name. Its directory names `requestUrl`. */
function issuerFromInside(parties: Awaited<ReturnType<typeof setup>>, requestUrl: string) {
  const privateTokens = { issuer: PUBLIC };
  const config = configSchema.parse({ ...parties.options.config, issuer: PUBLIC, privateTokens });
  const sendToPair = trusting(undefined, parties.pair.origin);
  parties.paths[DIRECTORY_PATH] = directoryOf([voprfKey], 'max-age=600', requestUrl);
  return openIssuers({ ...parties.options, config, sendToPair })(undefined);
}

describe("this pair's issuer", () => {
  test("RFC 9577 section 2.1.1.1: this pair's issuer is named by host and port, and all callers get one object", async () => {
    await using parties = await setup();
    const issuer = parties.issuers(undefined);
    expect(issuer.name).toBe(serverNameOf(parties.pair.origin));
    expect(parties.issuers(undefined)).toBe(issuer);
    expect(parties.issuers(issuer.name)).toBe(issuer);
    expect(parties.asked()).toEqual([]);
  });

  test("this pair's issuer offers no keys of a type that it cannot verify, for example after its client was removed", async () => {
    await using parties = await setup();
    parties.paths['/token'] = (response) => response.writeHead(401).end();
    const issuer = parties.issuers(undefined);
    expect(await issuer.keys(VOPRF)).toEqual([]);
    expect(await issuer.keys(BLIND_RSA)).toHaveLength(1);
    await using byStore = await setup('store');
    byStore.paths['/token'] = parties.paths['/token'];
    expect(await byStore.issuers(undefined).keys(VOPRF)).toHaveLength(1);
  });

  test("keys of this pair's issuer end when its directory says", async () => {
    await using parties = await setup();
    const until = (parties.notBefore + LIFE) * 1000;
    for (const key of [rsaKey, voprfKey]) {
      const keys = await parties.issuers(undefined).keys(key.type);
      expect(keys).toMatchObject([{ id: key.id, until }]);
    }
    expect(parties.asked()).toEqual([DIRECTORY_PATH, '/token']);
  });

  test('tokens of blind RSA are verified locally', async () => {
    await using parties = await setup();
    const issuer = parties.issuers(undefined);
    const key = await issuer.key(BLIND_RSA, rsaKey.id);
    const token = signed(rsaKey);
    expect(key && token && (await issuer.verify(token, key, ALONE))).toBe(true);
    expect(key && (await issuer.verify(tokenFor(rsaKey), key, ALONE))).toBe(false);
    expect(parties.asked()).toEqual([DIRECTORY_PATH]);
  });

  test('tokens of VOPRF are verified by the issuer, with an access token for its resource', async () => {
    await using parties = await setup();
    const issuer = parties.issuers(undefined);
    const key = await issuer.key(VOPRF, voprfKey.id);
    expect(key && (await issuer.verify(tokenFor(voprfKey), key, ALONE))).toBe(true);
    expect(parties.asked()).toEqual([DIRECTORY_PATH, '/token', '/private-token/verify']);
    const [, token, verify] = parties.pair.asked;
    const client = btoa(`resource-server:${secret(parties.options.master)}`);
    expect(token?.headers.authorization).toBe(`Basic ${client}`);
    expect(Object.fromEntries(new URLSearchParams(token?.content.toString()))).toEqual({
      grant_type: 'client_credentials',
      resource: `${parties.pair.origin}/private-token/verify`,
      scope: 'private-token:verify',
    });
    expect(verify?.headers.authorization).toBe('Bearer access');
  });

  test('fifty concurrent tokens are verified with one access token', async () => {
    await using parties = await setup();
    const issuer = parties.issuers(undefined);
    const verified = Array.from({ length: 50 }, async () => {
      const key = await issuer.key(VOPRF, voprfKey.id);
      return key && issuer.verify(tokenFor(voprfKey), key, ALONE);
    });
    expect((await Promise.all(verified)).every(Boolean)).toBe(true);
    expect(parties.asked().filter((url) => url === '/token')).toHaveLength(1);
  });

  test('RFC 6750 section 3.1: an issuer that refuses every access token causes one a second, not one per token', async () => {
    await using parties = await setup();
    const issuer = parties.issuers(undefined);
    const key = await issuer.key(VOPRF, voprfKey.id);
    if (key === undefined) throw new Error('there is no key');
    parties.paths['/private-token/verify'] = json({}, 401);
    let given = 0;
    parties.paths['/token'] = (response, asked) =>
      json({ access_token: `t${(given += 1)}`, token_type: 'Bearer', expires_in: 600 })(
        response,
        asked,
      );
    const redeem = async () => {
      for (let n = 0; n < 20; n += 1) {
        await expect(issuer.verify(tokenFor(voprfKey), key, ALONE)).rejects.toThrow(
          KeysUnavailable,
        );
      }
    };
    await redeem();
    expect(given).toBe(2);
    parties.options.clock.advance(1);
    await redeem();
    expect(given).toBe(3);
    parties.paths['/private-token/verify'] = json({ valid: true });
    expect(await issuer.verify(tokenFor(voprfKey), key, ALONE)).toBe(true);
    expect(given).toBe(3);
  });

  test('tokens of VOPRF are verified by the keys in the store if so configured', async () => {
    await using parties = await setup('store');
    const { stores, master, clock, config } = parties.options;
    const times = { rotation: ROTATION, overlap: OVERLAP, maxAge: 100 };
    const life = { stores, master, clock, random: systemRandom, times, generate: GENERATE };
    await keepTokenKeys(life, await listTokenKeys(life));
    const stored = (await listTokenKeys(life)).find(({ key }) => key.type === VOPRF)?.key;
    if (stored === undefined) throw new Error('there is no key');
    const publicKey = Buffer.from(stored.publicKey, 'base64url');
    const id = Buffer.from(stored.id, 'base64url');
    parties.paths[DIRECTORY_PATH] = directoryOf([{ type: VOPRF, publicKey, id }]);
    expect(config.privateTokens?.verification).toBe('store');

    const issuer = parties.issuers(undefined);
    const key = await issuer.key(VOPRF, id);
    const token = tokenFor({ type: VOPRF, publicKey, id });
    const authenticator = evaluate(openTokenKey(master, stored), token.input);
    expect(key && (await issuer.verify({ ...token, authenticator }, key, ALONE))).toBe(true);
    expect(key && (await issuer.verify(token, key, ALONE))).toBe(false);
    expect(parties.asked()).toEqual([DIRECTORY_PATH]);
  });

  test("this pair's issuer is reached by privateTokens.url, while its name and endpoints stay public", async () => {
    await using parties = await setup();
    const found = issuerFromInside(parties, `${PUBLIC}/request`);
    expect(found.name).toBe('auth.example');
    const key = await found.key(VOPRF, voprfKey.id);
    expect(key && (await found.verify(tokenFor(voprfKey), key, ALONE))).toBe(true);
    expect(parties.asked()).toEqual([DIRECTORY_PATH, '/token', '/private-token/verify']);
    const { content } = parties.pair.asked[1] ?? {};
    expect(new URLSearchParams(content?.toString()).get('resource')).toBe(
      `${PUBLIC}/private-token/verify`,
    );
  });

  test('RFC 9578 section 4: an internal directory cannot name another origin, either', async () => {
    await using parties = await setup();
    const found = issuerFromInside(parties, `${parties.pair.origin}/private-token/request`);
    await expect(found.keys(VOPRF)).rejects.toThrow(KeysUnavailable);
  });

  test('an issuer with an untrusted certificate gets no request, and no token is valid', async () => {
    await using parties = await setup();
    const issuers = openIssuers({ ...parties.options, sendToPair: openSend() });
    await expect(issuers(undefined).keys(BLIND_RSA)).rejects.toThrow(KeysUnavailable);
    expect(parties.asked()).toEqual([]);
    expect(parties.lines).toMatchObject([{ event: 'private-token.directory' }]);
  });

  test('this pair has no issuer if none is configured', async () => {
    await using parties = await setup();
    const { privateTokens: _, ...config } = parties.options.config;
    const issuers = openIssuers({ ...parties.options, config });
    expect(() => issuers(undefined)).toThrow('privateTokens');
  });
});

describe('another issuer', () => {
  test('RFC 9578 section 4: another issuer is found by its name, and its keys are valid for thirty days', async () => {
    await using parties = await setup();
    const { notBefore } = parties;
    const other = parties.use(await startIssuer(directoryOf([{ ...rsaKey, notBefore }])));
    const issuer = parties.issuers(serverNameOf(other.origin));
    const until = (notBefore + 30 * 86_400) * 1000;
    expect(await issuer.keys(BLIND_RSA)).toMatchObject([{ id: rsaKey.id, until }]);
    expect(other.asked.map(({ url }) => url)).toEqual([DIRECTORY_PATH]);
    expect(parties.asked()).toEqual([]);
  });

  test("RFC 9577 section 2.2: a later not-before does not move a key's end, so that spent tokens stay refused", async () => {
    await using parties = await setup();
    const { clock } = parties.options;
    const day = 86_400;
    const begin = parties.notBefore - 20 * day;
    const beginsAt = (notBefore: number) => directoryOf([{ ...rsaKey, notBefore }], 'max-age=60');
    const other = parties.use(await startIssuer(beginsAt(begin)));
    const issuer = parties.issuers(serverNameOf(other.origin));
    const ends = [(await issuer.key(BLIND_RSA, rsaKey.id))?.until];
    for (const days of [15, -1, 1]) {
      other.answers = beginsAt(begin + days * day);
      clock.advance(60);
      // An unknown key causes a fetch of the stale directory.
      await issuer.key(BLIND_RSA, voprfKey.id);
      ends.push((await issuer.key(BLIND_RSA, rsaKey.id))?.until);
    }
    expect(other.asked).toHaveLength(4);
    const [first, earlier] = [30, 29].map((days) => (begin + days * day) * 1000);
    expect(ends).toEqual([first, first, earlier, earlier]);
    clock.advance(9 * day);
    other.answers = beginsAt(parties.notBefore);
    await issuer.key(BLIND_RSA, voprfKey.id);
    expect(await issuer.key(BLIND_RSA, rsaKey.id)).toBeUndefined();
  });

  test('a key of another issuer without not-before has no end', async () => {
    await using parties = await setup();
    const other = parties.use(await startIssuer(directoryOf([rsaKey])));
    const keys = await parties.issuers(serverNameOf(other.origin)).keys(BLIND_RSA);
    expect(keys).toMatchObject([{ id: rsaKey.id, until: undefined }]);
  });

  test('RFC 9578 section 5.4: VOPRF tokens of another issuer are refused', async () => {
    await using parties = await setup();
    const other = parties.use(await startIssuer(directoryOf([voprfKey])));
    const issuer = parties.issuers(serverNameOf(other.origin));
    expect(await issuer.keys(VOPRF)).toEqual([]);
    expect(await issuer.key(VOPRF, voprfKey.id)).toBeUndefined();
    const key = { ...voprfKey, until: undefined };
    expect(await issuer.verify(tokenFor(voprfKey), key, ALONE)).toBe(false);
    expect([...other.asked, ...parties.asked()]).toEqual([]);
  });

  test('another issuer cannot use the trusted certificate of this pair', async () => {
    await using parties = await setup();
    const other = parties.use(await startIssuer(directoryOf([rsaKey])));
    const issuers = openIssuers({ ...parties.options, send: openSend() });
    const issuer = issuers(serverNameOf(other.origin));
    await expect(issuer.keys(BLIND_RSA)).rejects.toThrow(KeysUnavailable);
    expect(other.asked).toEqual([]);
  });

  test('another issuer and this pair do not share keys', async () => {
    await using parties = await setup();
    const other = parties.use(await startIssuer(directoryOf([])));
    const issuer = parties.issuers(serverNameOf(other.origin));
    expect(await issuer.key(BLIND_RSA, rsaKey.id)).toBeUndefined();
    expect(await parties.issuers(undefined).key(BLIND_RSA, rsaKey.id)).toBeDefined();
  });
});
