import type { webcrypto } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import {
  AuthorizationHeader,
  getIssuerUrl,
  header_to_token as headerToToken,
  publicVerif,
  type Token,
  util,
} from '@cloudflare/privacypass-ts';
import {
  BLIND_RSA,
  obtain,
  offerAt,
  offersIn,
  redeem,
  TYPES,
  VOPRF,
} from './private-token/privacypass.ts';
import { startTokenSite, type TokenSite } from './private-token/token-site.ts';

/** PrivateToken (RFC 9577, RFC 9578) at the tour, with @cloudflare/privacypass-ts. */
const SCHEMES = ['DPoP', 'SCRAM-SHA-256', 'Digest', 'SCRAM-SHA-1', 'Bearer', 'Basic'];

const PLACES = [
  { origin: 'resource', space: 'private-token' },
  { origin: 'resource', space: 'all' },
  { origin: 'resourceTls', space: 'private-token' },
  { origin: 'resourceTls', space: 'all' },
] as const;
type Place = (typeof PLACES)[number];

const HERE: Place = PLACES[0];

const quoted = (token: Token) => new AuthorizationHeader(token).toString(true);

// private-token-rotation.test.ts combines stores and verifications the other way. Tokens of both types work
// everywhere; spellings and faults are tested for one type each.
describe.each([
  { kind: 'sqlite', verification: 'issuer', type: VOPRF },
  { kind: 'postgres', verification: 'store', type: BLIND_RSA },
] as const)('on $kind, VOPRF verified by the $verification', ({ kind, verification, type }) => {
  let site: TokenSite;
  beforeAll(async () => {
    site = await startTokenSite(kind, { verification });
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(async () => site?.[Symbol.asyncDispose]());

  const url = ({ origin, space }: Place = HERE) => `${site.flow.pair[origin]}/schemes/${space}/`;

  async function refused(token: Token, place = HERE): Promise<void> {
    const answer = await redeem(url(place), quoted(token));
    expect([answer.status, offersIn(answer)]).toEqual([
      401,
      [expect.anything(), expect.anything()],
    ]);
  }

  describe.each(PLACES)('a token at $origin, /schemes/$space/', (place) => {
    test('RFC 9577 section 2.1: the library reads our challenges with all their values', async () => {
      const answer = await fetch(url(place));
      const field = answer.headers.get('www-authenticate') ?? '';
      const others = SCHEMES.filter((scheme) => field.includes(`${scheme} `));
      expect([answer.status, others]).toEqual([401, place.space === 'all' ? SCHEMES : []]);
      const { 'token-keys': keys } = await site.directory();
      const offers = offersIn(answer);
      expect(offers.map(({ challenge }) => challenge.tokenType)).toEqual([2, 1]);
      for (const { challenge, tokenKey, maxAge } of offers) {
        expect(challenge).toMatchObject({
          issuerName: new URL(site.requestUrl).host,
          redemptionContext: new Uint8Array(0),
          originInfo: [new URL(url(place)).host],
        });
        const encoded = Buffer.from(challenge.serialize()).toString('base64url');
        expect(field).toContain(`challenge="${encoded}`);
        const key = keys.find((one) => one['token-type'] === challenge.tokenType);
        expect(Buffer.from(key?.['token-key'] ?? '', 'base64url').equals(tokenKey)).toBe(true);
        expect(maxAge).toBeGreaterThan(0);
      }
    });

    test.each(TYPES)('$name: is accepted once, and is anonymous', async (each) => {
      const token = await obtain(each, await offerAt(url(place), each.type), site.send);
      const answer = await redeem(url(place), quoted(token));
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({
        scheme: 'PrivateToken',
        realm: place.space,
        principal: { kind: 'anonymous' },
      });
      await refused(token, place);
    });
  });

  describe(type.name, () => {
    const offer = () => offerAt(url(), type.type);
    const another = async () => obtain(type, await offer(), site.send);

    test.each([
      ['in quotes', (token: string) => `PrivateToken token="${token}"`],
      ['without quotes', (token: string) => `PrivateToken token=${token}`],
      ['without padding', (token: string) => `PrivateToken token="${token.replace(/=+$/, '')}"`],
      ['with neither', (token: string) => `PrivateToken token=${token.replace(/=+$/, '')}`],
    ])("RFC 9577 section 2.2.2: is accepted in the library's spelling, %s", async (_how, write) => {
      const field = quoted(await another());
      const [, text = ''] = /^PrivateToken token="([^"]+)"$/.exec(field) ?? [];
      expect((await redeem(url(), write(text))).status).toBe(200);
    });

    test("is accepted in the library's default spelling of Authorization", async () => {
      const field = new AuthorizationHeader(await another()).toString();
      expect((await redeem(url(), field)).status).toBe(200);
    });

    test('RFC 9577 section 2.1.3: is refused at another origin, and stays valid at its own', async () => {
      const token = await another();
      await refused(token, PLACES[2]);
      expect((await redeem(url(PLACES[1]), quoted(token))).status).toBe(200);
    });

    test('is refused with one changed octet', async () => {
      const token = await another();
      for (const part of [
        token.authInput.nonce,
        token.authInput.challengeDigest,
        token.authInput.tokenKeyId,
        token.authenticator,
      ]) {
        part[7] = (part[7] ?? 0) ^ 1;
        await refused(token);
        part[7] = (part[7] ?? 0) ^ 1;
      }
      expect((await redeem(url(), quoted(token))).status).toBe(200);
    });

    test('header_to_token gets a token, once its requests have an access token', async () => {
      const field = (await offer()).toString(true);
      await expect(headerToToken(field)).rejects.toThrow('tokenRequest failed with code:401');
      signInFetch();
      const encoded = (await headerToToken(field)) ?? '';
      const authorization = Buffer.from(encoded, 'base64url').toString();
      expect((await redeem(url(), authorization)).status).toBe(200);
    });
  });

  test('header_to_token finds its challenge among those of all schemes', async () => {
    const answer = await fetch(url(PLACES[1]));
    signInFetch();
    const encoded = await headerToToken(answer.headers.get('www-authenticate') ?? '');
    const authorization = Buffer.from(encoded ?? '', 'base64url').toString();
    expect((await redeem(url(PLACES[1]), authorization)).status).toBe(200);
  });

  test("RFC 9578 section 6.4: the library's origin accepts our blind RSA tokens", async () => {
    const offer = await offerAt(url(), BLIND_RSA.type);
    const token = await obtain(BLIND_RSA, offer, site.send);
    const key = await importKey(offer.tokenKey);
    const { PSS } = publicVerif.BlindRSAMode;
    const origin = new publicVerif.Origin(PSS, offer.challenge.originInfo);
    expect(await origin.verify(token, key)).toBe(true);
    token.authInput.nonce[0] = (token.authInput.nonce[0] ?? 0) ^ 1;
    expect(await origin.verify(token, key)).toBe(false);
  });

  test('RFC 9578 section 4: the library finds the endpoint for requests in our directory', async () => {
    expect(await getIssuerUrl(new URL(site.directoryUrl).host)).toBe(site.requestUrl);
    const { status, headers } = await fetch(site.directoryUrl);
    const media = headers.get('content-type');
    expect([status, media]).toEqual([200, 'application/private-token-issuer-directory']);
  });

  test('RFC 9578 section 5.4: the issuer is asked about VOPRF tokens if it is to verify them', async () => {
    const token = await obtain(VOPRF, await offerAt(url(), VOPRF.type), site.send);
    expect((await redeem(url(), quoted(token))).status).toBe(200);
    const { log } = site.flow.pair.authz[0] ?? { log: '' };
    expect(log).toContain('/private-token/request');
    expect(log.includes('/private-token/verify')).toBe(verification === 'issuer');
  });

  /** The library cannot send an access token: here its `fetch` adds one to token requests. */
  function signInFetch(): void {
    const plain = fetch;
    jest.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
      const headers = new Headers(init?.headers);
      if (input === site.requestUrl) headers.set('authorization', site.authorization);
      return plain(input, { ...init, headers });
    });
  }
});

/** Imports a key as the library does. */
function importKey(spki: Uint8Array): Promise<webcrypto.CryptoKey> {
  const key = new Uint8Array(util.convertRSASSAPSSToEnc(spki));
  return crypto.subtle.importKey('spki', key, publicVerif.BLIND_RSA.rsaParams, true, ['verify']);
}
