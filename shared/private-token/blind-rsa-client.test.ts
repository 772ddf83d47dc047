import { createPrivateKey, createPublicKey } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { type Random, systemRandom } from '#shared/base/random.ts';
import { blindSign, generateBlindRsaKey, rsaModulus, verifyBlindRsa } from './blind-rsa.ts';
import { blindRsa, blindWith } from './blind-rsa-client.ts';
import { parseToken, tokenInput } from './token.ts';
import { encodeTokenRequest } from './token-request.ts';
import { challengeDigest } from './token-challenge.ts';
import { tokenKeyId, truncatedKeyId } from './token-key.ts';
import { BLIND_RSA } from './token-types.ts';
import rfc9474 from './vectors/rfc9474-blind-rsa.json' with { type: 'json' };
import type1 from './vectors/rfc9578-type1-go.json' with { type: 'json' };
import rfc9578 from './vectors/rfc9578-type2-go.json' with { type: 'json' };

const hex = (text = '') => Buffer.from(text.replace(/^0x/, ''), 'hex');

/** Returns the given octets, in turn for each call of the same length, and throws if none are left. */
function randomOf(...given: readonly Buffer[]): Random & { readonly left: Buffer[] } {
  const left = [...given];
  const random = (length: number) => {
    const next = left.shift();
    if (next?.length !== length) throw new Error(`no ${length} octets are left`);
    return next;
  };
  return Object.assign(random, { left });
}

const PAIR = await generateBlindRsaKey();
const PRIVATE_KEY = createPrivateKey({ key: PAIR.privateKey, format: 'der', type: 'pkcs8' });
const PUBLIC_KEY = createPublicKey(PRIVATE_KEY);
const MODULUS = rsaModulus(PUBLIC_KEY);
const INPUT = Buffer.from('any input');

const sign = (blinded: Buffer) => blindSign(PRIVATE_KEY, blinded) ?? Buffer.alloc(0);

describe('RFC 9578 appendix A.2: the client', () => {
  test.each(rfc9578)('$token_challenge', (vector) => {
    const publicKey = hex(vector.pkS);
    const keyId = tokenKeyId(publicKey);
    const digest = challengeDigest(hex(vector.token_challenge));
    const input = tokenInput(BLIND_RSA, hex(vector.nonce), digest, keyId);
    const random = randomOf(hex(vector.salt), hex(vector.blind));
    const { blinded, finalize } = blindRsa(publicKey, input, random);
    const truncated = truncatedKeyId(keyId);
    const request = encodeTokenRequest({ type: BLIND_RSA, truncatedKeyId: truncated, blinded });
    expect(request).toEqual(hex(vector.token_request));
    const authenticator = finalize(hex(vector.token_response));
    expect(Buffer.concat([input, authenticator ?? Buffer.alloc(0)])).toEqual(hex(vector.token));
    expect(parseToken(hex(vector.token))?.authenticator).toEqual(authenticator);
  });
});

describe('RFC 9474 appendix A: Blind and Finalize', () => {
  /** Computes r, which the RFC does not print, as the inverse of r^-1, by the extended Euclidean algorithm. */
  function blindOf({ inv, n }: (typeof rfc9474)[number]): Buffer {
    const [modulus, value] = [BigInt(n), BigInt(inv)];
    let [a, b, u, v] = [modulus, value, 0n, 1n];
    while (b !== 0n) [a, b, u, v] = [b, a % b, v, u - (a / b) * v];
    const r = ((u % modulus) + modulus) % modulus;
    return hex(r.toString(16).padStart(hex(n).length * 2, '0'));
  }

  const salted = rfc9474.filter(({ sLen }) => sLen === '0x30');

  test('RFC 9474 appendix A has two variants with a salt of 48 octets', () =>
    expect(salted).toHaveLength(2));

  test.each(salted)('$name', (vector) => {
    const n = hex(vector.n).toString('base64url');
    const e = hex(vector.e).toString('base64url');
    const key = createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' });
    const random = randomOf(hex(vector.salt), blindOf(vector));
    const { blinded, finalize } = blindWith(key, hex(vector.input_msg), random);
    expect(blinded).toEqual(hex(vector.blinded_msg));
    expect(finalize(hex(vector.blind_sig))).toEqual(hex(vector.sig));
  });
});

describe('RFC 9474 section 4.2: Blind', () => {
  const salt = Buffer.alloc(48, 1);
  const two = Buffer.alloc(256);
  two[255] = 2;

  test('r is drawn again while it is not within [1, n)', () => {
    const random = randomOf(salt, Buffer.alloc(256), MODULUS, Buffer.alloc(256, 0xff), two);
    const { blinded, finalize } = blindRsa(PAIR.publicKey, INPUT, random);
    expect(random.left).toEqual([]);
    expect(blinded).toEqual(blindRsa(PAIR.publicKey, INPUT, randomOf(salt, two)).blinded);
    expect(finalize(sign(blinded))).toBeDefined();
  });

  test('r is drawn again while it has no inverse', () => {
    const p = Buffer.from(PRIVATE_KEY.export({ format: 'jwk' }).p ?? '', 'base64url');
    const multiple = Buffer.concat([Buffer.alloc(256 - p.length), p]);
    const random = randomOf(salt, multiple, two);
    expect(blindRsa(PAIR.publicKey, INPUT, random).finalize(MODULUS)).toBeUndefined();
    expect(random.left).toEqual([]);
  });

  test('a message that shares a factor with n is refused', () => {
    // 3 divides n here, and also one of these encoded messages.
    const n = Buffer.alloc(256, 0xff);
    const key = createPublicKey({
      key: { kty: 'RSA', n: n.toString('base64url'), e: 'AQAB' },
      format: 'jwk',
    });
    const attempt = (octet: number) => () =>
      blindWith(key, INPUT, randomOf(Buffer.alloc(48, octet), two));
    expect(() => {
      for (let octet = 0; octet < 100; octet += 1) attempt(octet)();
    }).toThrow('not a modulus for blind RSA');
  });

  test('two requests for one input share no octets, nor do their signatures', () => {
    const one = blindRsa(PAIR.publicKey, INPUT, systemRandom);
    const other = blindRsa(PAIR.publicKey, INPUT, systemRandom);
    expect(one.blinded).not.toEqual(other.blinded);
    const signature = one.finalize(sign(one.blinded));
    expect(signature).toBeDefined();
    expect(other.finalize(sign(other.blinded))).not.toEqual(signature);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a key of the other type', hex(type1[0]?.pkS)],
    ['a key of type rsaEncryption', PUBLIC_KEY.export({ format: 'der', type: 'spki' })],
    ['a key with an octet behind it', Buffer.concat([PAIR.publicKey, Buffer.alloc(1)])],
  ])('%s instead of the key throws', (_, publicKey) => {
    expect(() => blindRsa(publicKey, INPUT, systemRandom)).toThrow(TypeError);
  });
});

describe('RFC 9474 section 4.4: Finalize', () => {
  const request = blindRsa(PAIR.publicKey, INPUT, systemRandom);
  const response = sign(request.blinded);

  test('a response gives a signature of the input, each time', () => {
    const signature = request.finalize(response) ?? Buffer.alloc(0);
    expect(verifyBlindRsa(PUBLIC_KEY, INPUT, signature)).toBe(true);
    expect(verifyBlindRsa(PUBLIC_KEY, Buffer.from('another'), signature)).toBe(false);
    expect(signature).not.toEqual(response);
    expect(request.finalize(response)).toEqual(signature);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a response cut by one', response.subarray(0, -1)],
    ['a response with an octet behind it', Buffer.concat([response, Buffer.alloc(1)])],
    ['a zero in front', Buffer.concat([Buffer.alloc(1), response])],
    ['zero', Buffer.alloc(256)],
    ['n', MODULUS],
    ['more than n', Buffer.alloc(256, 0xff)],
    ['the request itself', request.blinded],
    ['the response to another', sign(blindRsa(PAIR.publicKey, INPUT, systemRandom).blinded)],
  ])('%s is refused', (_, given) => expect(request.finalize(given)).toBeUndefined());

  test('the response of another key is refused', async () => {
    const { privateKey } = await generateBlindRsaKey();
    const other = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
    // Undefined if the blinded message is not below the other modulus; such a response is refused, too.
    const given = blindSign(other, request.blinded) ?? Buffer.alloc(0);
    expect(request.finalize(given)).toBeUndefined();
  });

  test('a response with any bit changed is refused', () => {
    for (let at = 0; at < response.length; at += 1) {
      const given = Buffer.from(response);
      given[at] = (given[at] ?? 0) ^ (1 << (at % 8));
      expect(request.finalize(given)).toBeUndefined();
    }
  });

  test('any input is blinded, signed and verified', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (input) => {
        const { blinded, finalize } = blindRsa(PAIR.publicKey, input, systemRandom);
        const signature = finalize(sign(blinded)) ?? Buffer.alloc(0);
        expect(verifyBlindRsa(PUBLIC_KEY, input, signature)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });
});
