import { createPrivateKey } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ALONE } from '#shared/base/line.ts';
import type { IssuerKey } from '#shared/auth/schemes/parts/token-issuer.ts';
import { blindRsa } from '#shared/private-token/blind-rsa-client.ts';
import { blindSign, generateBlindRsaKey } from '#shared/private-token/blind-rsa.ts';
import { parseToken, type Token } from '#shared/private-token/token.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import { systemRandom } from '#shared/base/random.ts';
import { tokenFor } from './issuer.fixture.ts';
import { blindRsaVerification } from './verification.ts';

/** Makes a token that the issuer has signed. */
function signed(pair: TokenKeyPair): Token {
  const { input } = tokenFor(pair);
  const { blinded, finalize } = blindRsa(pair.publicKey, input, systemRandom);
  const key = createPrivateKey({ key: pair.privateKey, format: 'der', type: 'pkcs8' });
  const response = blindSign(key, blinded);
  const authenticator = response && finalize(response);
  const token = authenticator && parseToken(Buffer.concat([input, authenticator]));
  if (token === undefined) throw new Error('the issuer and its client do not agree');
  return token;
}

describe('RFC 9578 section 6.4: blind RSA is verified with the public key', () => {
  let [key, other]: (TokenKeyPair & IssuerKey)[] = [];
  let token: Token;
  const verify = blindRsaVerification();
  const verified = (one: Token, by = key) => by !== undefined && verify(one, by, ALONE);
  beforeAll(async () => {
    const pairs = await Promise.all([generateBlindRsaKey(), generateBlindRsaKey()]);
    [key, other] = pairs.map((pair) => Object.assign(pair, { until: undefined }));
    token = signed(pairs[0]);
  });

  test('a blind RSA token is valid repeatedly, even after the key was fetched again', () => {
    expect(verified(token)).toBe(true);
    expect(verified(token)).toBe(true);
    expect(key && verified(token, { ...key })).toBe(true);
  });

  test('a blind RSA token is invalid with another key', () => {
    expect(verified(token, other)).toBe(false);
  });

  test('a blind RSA token is invalid with a malformed key', () => {
    expect(key && verified(token, { ...key, publicKey: Buffer.alloc(338) })).toBe(false);
  });

  test('a blind RSA token with any bit changed is invalid', () => {
    const { input, authenticator } = token;
    const whole = Buffer.concat([input, authenticator]);
    // The first two octets are the type, by which the token is parsed.
    const bit = fc.integer({ min: 16, max: whole.length * 8 - 1 });
    fc.assert(
      fc.property(bit, (at) => {
        const changed = Buffer.from(whole);
        changed.writeUInt8(changed.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3);
        const parsed = parseToken(changed);
        expect(parsed && verified(parsed)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
