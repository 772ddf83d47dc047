import { createHash, createPrivateKey } from 'node:crypto';
import { TokenChallenge } from '@cloudflare/privacypass-ts';
import { describe, expect, test } from '@jest/globals';
import { blindRsaPublicKey, blindSign, verifyBlindRsa } from '#shared/private-token/blind-rsa.ts';
import { GENERATE } from '#shared/keys/token-key-lifecycle.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import { parseTokenRequest } from '#shared/private-token/token-request.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import { parseToken, type Token } from '#shared/private-token/token.ts';
import { blindEvaluate, evaluate } from '#shared/private-token/voprf.ts';
import { systemRandom } from '#shared/base/random.ts';
import { blindRequest, digestOf, tokenMaker } from './token-maker.ts';

const TYPES: readonly TokenType[] = [VOPRF, BLIND_RSA];

const VERIFY: Readonly<Record<TokenType, (key: TokenKeyPair, token: Token) => boolean>> = {
  [VOPRF]: ({ privateKey }, { input, authenticator }) =>
    evaluate(privateKey, input).equals(authenticator),
  [BLIND_RSA]: ({ publicKey }, { input, authenticator }) => {
    const key = blindRsaPublicKey(publicKey);
    return key !== undefined && verifyBlindRsa(key, input, authenticator);
  },
};

const RESPOND: Readonly<Record<TokenType, (key: TokenKeyPair, blinded: Buffer) => unknown>> = {
  [VOPRF]: ({ privateKey, publicKey }, blinded) => blindEvaluate(privateKey, publicKey, blinded),
  [BLIND_RSA]: ({ privateKey }, blinded) =>
    blindSign(createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' }), blinded),
};

describe.each(TYPES)('type %i', (type) => {
  test('RFC 9577 section 2.2.1: tokens of the key for the challenge, no two the same', async () => {
    const key = await GENERATE[type](systemRandom);
    const digest = systemRandom(32);
    const make = tokenMaker(key, digest);
    const tokens = [make(), make(), make()].map((octets) => parseToken(octets));
    for (const token of tokens) {
      if (token === undefined) throw new Error('no token');
      expect([token.type, token.challengeDigest, token.keyId]).toEqual([type, digest, key.id]);
      expect(VERIFY[type](key, token)).toBe(true);
    }
    expect(new Set(tokens.map((token) => token?.nonce.toString('hex'))).size).toBe(3);
  });

  test('RFC 9578 sections 5.3 and 6.3: only the response to a request is its answer', async () => {
    const key = await GENERATE[type](systemRandom);
    const [mine, other] = [blindRequest(key), blindRequest(key)];
    const asked = parseTokenRequest(mine.content);
    if (asked === undefined) throw new Error('no request');
    expect([asked.type, asked.truncatedKeyId]).toEqual([type, key.id.at(-1)]);
    const response = RESPOND[type](key, asked.blinded) as Buffer;
    expect(mine.isAnsweredBy(response)).toBe(true);
    expect(other.isAnsweredBy(response)).toBe(false);
    expect(mine.isAnsweredBy(response.subarray(1))).toBe(false);
  });

  test('RFC 9577 section 2.1.1: the digest is that which privacypass-ts computes', () => {
    const challenge = new TokenChallenge(type, 'issuer.example:8443', new Uint8Array(), [
      'origin.example',
    ]);
    const digest = createHash('sha256').update(challenge.serialize()).digest();
    expect(digestOf(type, 'issuer.example:8443', 'origin.example')).toEqual(digest);
  });
});
