import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  AuthorizationHeader,
  privateVerif,
  publicVerif,
  Token,
  TOKEN_TYPES,
  TokenChallenge,
  WWWAuthenticateHeader,
} from '@cloudflare/privacypass-ts';
import * as fc from 'fast-check';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { decodeBase64url } from '#shared/private-token/base64url.ts';
import { blindRsaPublicKey, verifyBlindRsa } from '#shared/private-token/blind-rsa.ts';
import { blindRsa } from '#shared/private-token/blind-rsa-client.ts';
import type { Blinded } from '#shared/private-token/blinded.ts';
import { parseDirectory } from '#shared/private-token/issuer-directory.ts';
import {
  challengeDigest,
  encodeChallenge,
  parseChallenge,
} from '#shared/private-token/token-challenge.ts';
import { tokenKeyId, truncatedKeyId } from '#shared/private-token/token-key.ts';
import { encodeTokenRequest, parseTokenRequest } from '#shared/private-token/token-request.ts';
import { parseToken, tokenInput } from '#shared/private-token/token.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import { blindVoprf } from '#shared/private-token/voprf-client.ts';
import { systemRandom } from '#shared/base/random.ts';
import { TYPES as LIBRARY_TYPES } from './private-token/privacypass.ts';

/**
 * Our parsers read what @cloudflare/privacypass-ts serializes, and our clients use an issuer made with it.
 */
const ISSUER = 'issuer.example';
const DIRECTORY_URL = `https://${ISSUER}/.well-known/private-token-issuer-directory`;

/** The library's parsers would read a pooled Buffer from the start of its pool. */
const unpooled = (bytes: Uint8Array) => new Uint8Array(bytes);

interface TheirIssuer {
  readonly publicKey: Uint8Array;
  /** Returns the TokenResponse to a TokenRequest. */
  issue(request: Uint8Array): Promise<Uint8Array>;
  verify(token: Uint8Array): Promise<boolean>;
}

async function voprfIssuer(): Promise<TheirIssuer> {
  const { privateKey, publicKey } = await privateVerif.keyGen();
  const issuer = new privateVerif.Issuer(ISSUER, privateKey, publicKey);
  return {
    publicKey,
    issue: async (bytes) =>
      (await issuer.issue(privateVerif.TokenRequest.deserialize(bytes))).serialize(),
    verify: async (bytes) => issuer.verify(Token.deserialize(TOKEN_TYPES.VOPRF, bytes)),
  };
}

async function blindRsaIssuer(): Promise<TheirIssuer> {
  const { PSS } = publicVerif.BlindRSAMode;
  const pair = await publicVerif.Issuer.generateKey(PSS, {
    modulusLength: 2048,
    publicExponent: Uint8Array.of(1, 0, 1),
  });
  const issuer = new publicVerif.Issuer(PSS, ISSUER, pair.privateKey, pair.publicKey);
  const type = TOKEN_TYPES.BLIND_RSA;
  return {
    publicKey: await publicVerif.getPublicKeyBytes(pair.publicKey),
    issue: async (bytes) =>
      (await issuer.issue(publicVerif.TokenRequest.deserialize(type, bytes))).serialize(),
    verify: async (bytes) => issuer.verify(Token.deserialize(type, bytes)),
  };
}

type Blind = (publicKey: Buffer, input: Uint8Array, random: typeof systemRandom) => Blinded;

const TYPES: readonly {
  readonly type: TokenType;
  readonly name: string;
  readonly startIssuer: () => Promise<TheirIssuer>;
  readonly blind: Blind;
}[] = [
  { type: VOPRF, name: 'VOPRF', startIssuer: voprfIssuer, blind: blindVoprf },
  { type: BLIND_RSA, name: 'blind RSA', startIssuer: blindRsaIssuer, blind: blindRsa },
];

describe.each(TYPES)('$name', ({ type, startIssuer, blind }) => {
  const theirs = LIBRARY_TYPES.find((one) => one.type === type);
  if (theirs === undefined) throw new Error(`the library has no type ${type}`);
  const challenge = new TokenChallenge(type, ISSUER, new Uint8Array(32).fill(7), ['a.example']);
  let issuer: TheirIssuer;
  let key: Buffer;
  beforeAll(async () => {
    issuer = await startIssuer();
    key = Buffer.from(issuer.publicKey);
  });

  test("RFC 9578: our client gets a token from the library's issuer", async () => {
    const digest = challengeDigest(challenge.serialize());
    const input = tokenInput(type, randomBytes(32), digest, tokenKeyId(key));
    const { blinded, finalize } = blind(key, input, systemRandom);
    const request = encodeTokenRequest({
      type,
      truncatedKeyId: truncatedKeyId(tokenKeyId(key)),
      blinded,
    });
    const response = await issuer.issue(unpooled(request));
    const authenticator = finalize(response);
    if (authenticator === undefined) throw new Error('the response is not right');
    const token = Buffer.concat([input, authenticator]);
    expect(await issuer.verify(unpooled(token))).toBe(true);
    token[2] = (token[2] ?? 0) ^ 1;
    expect(await issuer.verify(unpooled(token))).toBe(false);
    response[9] = (response[9] ?? 0) ^ 1;
    expect(finalize(response)).toBeUndefined();
  });

  test("RFC 9577 section 2.2.2, RFC 9578: our parsers read the library's request and token", async () => {
    const client = theirs.newClient();
    const asked = (await client.createTokenRequest(challenge, issuer.publicKey)).serialize();
    const request = parseTokenRequest(asked);
    expect(request).toMatchObject({ type, truncatedKeyId: truncatedKeyId(tokenKeyId(key)) });
    expect(request && encodeTokenRequest(request).equals(asked)).toBe(true);

    const response = client.deserializeTokenResponse(await issuer.issue(asked));
    const token = await client.finalize(response);
    for (const quoted of [true, false]) {
      const field = new AuthorizationHeader(token).toString(quoted);
      const { scheme, params } = parseCredentials(field) ?? {};
      expect(scheme).toBe('privatetoken');
      const read = parseToken(decodeBase64url(params?.['token'] ?? '') ?? Buffer.alloc(0));
      expect(read).toMatchObject({
        type,
        challengeDigest: challengeDigest(challenge.serialize()),
        keyId: tokenKeyId(key),
        nonce: Buffer.from(token.authInput.nonce),
        authenticator: Buffer.from(token.authenticator),
        input: Buffer.from(token.authInput.serialize()),
      });
    }
    if (type === BLIND_RSA) {
      const publicKey = blindRsaPublicKey(key);
      const input = token.authInput.serialize();
      expect(publicKey && verifyBlindRsa(publicKey, input, token.authenticator)).toBe(true);
    }
  });

  test("RFC 9577 section 2.1.2: our parser reads the library's challenge in quotes", () => {
    const field = new WWWAuthenticateHeader(challenge, issuer.publicKey, 60).toString(true);
    const [first, ...more] = parseChallenges(`Basic realm="a, b", ${field}`)?.slice(1) ?? [];
    expect([first?.scheme, more]).toEqual(['PrivateToken', []]);
    const { challenge: bytes = '', 'token-key': keyBytes = '' } = first?.params ?? {};
    expect(first?.params?.['max-age']).toBe('60');
    expect(decodeBase64url(keyBytes)?.equals(key)).toBe(true);
    expect(parseChallenge(decodeBase64url(bytes) ?? Buffer.alloc(0))).toMatchObject({
      type,
      issuer: ISSUER,
      origins: ['a.example'],
    });
  });

  test("RFC 9578 section 4: our parser reads its issuers' directory, with a relative URL for requests", () => {
    const document = {
      'issuer-request-uri': '/token-request',
      'token-keys': [{ 'token-type': type, 'token-key': key.toString('base64url') }],
    };
    const { requestUrl, keys } = parseDirectory(document, DIRECTORY_URL);
    expect(requestUrl).toBe(`https://${ISSUER}/token-request`);
    expect(keys).toMatchObject([{ type, publicKey: key, id: tokenKeyId(key) }]);
  });
});

describe('TokenChallenge (RFC 9577 section 2.1.1)', () => {
  const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,10}[a-z0-9])?$/);
  const port = fc.integer({ min: 1, max: 65_535 }).filter((one) => one !== 443);
  const name = fc
    .tuple(label, label, fc.option(port))
    .map(([host, domain, at]) => `${host}.${domain}x${at === null ? '' : `:${at}`}`);
  const context = fc
    .oneof(fc.constant(0), fc.constant(32))
    .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));
  const challenges = fc.record({
    type: fc.integer({ min: 0, max: 0xffff }),
    issuer: name,
    context: context.map(unpooled),
    origins: fc.array(name, { maxLength: 4 }),
  });

  test("both implementations write the same octets and read each other's", () => {
    fc.assert(
      fc.property(challenges, ({ type, issuer, context: bytes, origins }) => {
        const theirs = new TokenChallenge(type, issuer, bytes, origins).serialize();
        const ours = encodeChallenge({ type, issuer, context: bytes, origins });
        expect(ours.equals(theirs)).toBe(true);
        expect(parseChallenge(theirs)).toEqual({
          type,
          issuer,
          context: Buffer.from(bytes),
          origins,
        });
        expect(TokenChallenge.deserialize(unpooled(ours))).toMatchObject({
          tokenType: type,
          issuerName: issuer,
          redemptionContext: bytes,
          ...(origins.length > 0 && { originInfo: origins }),
        });
      }),
    );
  });
});
