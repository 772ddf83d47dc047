import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  type webcrypto,
} from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  blindRsaPublicKey,
  blindSign,
  encodeSpki,
  generateBlindRsaKey,
  rawPublic,
  rsaModulus,
  verifyBlindRsa,
} from './blind-rsa.ts';
import { tokenKeyId } from './token-key.ts';
import { parseToken } from './token.ts';
import { parseTokenRequest } from './token-request.ts';
import { BLIND_RSA } from './token-types.ts';
import rfc9474 from './vectors/rfc9474-blind-rsa.json' with { type: 'json' };
import type1 from './vectors/rfc9578-type1-go.json' with { type: 'json' };
import rfc9578 from './vectors/rfc9578-type2-go.json' with { type: 'json' };

const hex = (text: string) => Buffer.from(text.replace(/^0x/, ''), 'hex');
const pem = (text: string) => createPrivateKey(hex(text).toString());

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a part of the test is missing');
  return value;
}

const VECTOR = required(rfc9578[0]);
const SPKI = hex(VECTOR.pkS);
const KEY = required(blindRsaPublicKey(SPKI));
const PRIVATE_KEY = pem(VECTOR.skS);
const TOKEN = required(parseToken(hex(VECTOR.token)));
/** The positions at which the RSAPublicKey begins, and its modulus, after a zero. */
const RSA_PUBLIC_KEY = 72;
const MODULUS = RSA_PUBLIC_KEY + 9;

describe('RFC 9578 appendix A.2: blind RSA', () => {
  test.each(rfc9578)('$token_challenge', (vector) => {
    const key = required(blindRsaPublicKey(hex(vector.pkS)));
    const request = required(parseTokenRequest(hex(vector.token_request)));
    expect(blindSign(pem(vector.skS), request.blinded)).toEqual(hex(vector.token_response));
    const token = required(parseToken(hex(vector.token)));
    expect(token.type).toBe(BLIND_RSA);
    expect(token.keyId).toEqual(tokenKeyId(hex(vector.pkS)));
    expect(verifyBlindRsa(key, token.input, token.authenticator)).toBe(true);
    expect(encodeSpki(createPublicKey(pem(vector.skS)))).toEqual(hex(vector.pkS));
  });
});

describe('RFC 9474 appendix A: blind RSA', () => {
  function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
    let result = 1n;
    for (const bit of exponent.toString(2)) {
      result = (result * result) % modulus;
      if (bit === '1') result = (result * base) % modulus;
    }
    return result;
  }

  /** Returns the private key of the vector. A JWK needs more members than the RFC prints, so they are computed. */
  function privateKeyOf({ n, e, d, p, q }: (typeof rfc9474)[number]): KeyObject {
    const integer = (text: string) => BigInt(`0x${hex(text).toString('hex')}`);
    const encoded = (value: bigint) => {
      const digits = value.toString(16);
      return hex(digits.padStart(digits.length + (digits.length % 2), '0')).toString('base64url');
    };
    const [P, Q, D] = [integer(p), integer(q), integer(d)];
    const key: webcrypto.JsonWebKey = {
      kty: 'RSA',
      n: encoded(integer(n)),
      e: encoded(integer(e)),
      d: encoded(D),
      p: encoded(P),
      q: encoded(Q),
      dp: encoded(D % (P - 1n)),
      dq: encoded(D % (Q - 1n)),
      qi: encoded(power(Q, P - 2n, P)),
    };
    return createPrivateKey({ key, format: 'jwk' });
  }

  test.each(rfc9474)('$name: BlindSign and RSASSA-PSS-VERIFY', (vector) => {
    const privateKey = privateKeyOf(vector);
    expect(blindSign(privateKey, hex(vector.blinded_msg))).toEqual(hex(vector.blind_sig));
    const [input, signature] = [hex(vector.input_msg), hex(vector.sig)];
    const salted = vector.sLen === '0x30';
    expect(verifyBlindRsa(createPublicKey(privateKey), input, signature)).toBe(salted);
  });
});

describe('RFC 9474 section 4.3: BlindSign', () => {
  const modulus = rsaModulus(KEY);

  test.each([0, 1, 255, 257, 512])('a blinded message of %d octets is refused', (length) => {
    expect(blindSign(PRIVATE_KEY, Buffer.alloc(length, 1))).toBeUndefined();
  });

  test('a blinded message of n or more is refused, and n - 1 is signed', () => {
    expect(blindSign(PRIVATE_KEY, modulus)).toBeUndefined();
    expect(blindSign(PRIVATE_KEY, Buffer.alloc(256, 0xff))).toBeUndefined();
    const largest = Buffer.from(modulus);
    largest[255] = (largest[255] ?? 0) - 1;
    expect(blindSign(PRIVATE_KEY, largest)).toEqual(largest);
  });

  test('a small message keeps its leading zeros', () => {
    const one = Buffer.alloc(256);
    one[255] = 1;
    expect(blindSign(PRIVATE_KEY, one)).toEqual(one);
    expect(blindSign(PRIVATE_KEY, Buffer.alloc(256))).toEqual(Buffer.alloc(256));
  });

  test('any octets give undefined or a signature of them', () => {
    const lengths = fc.oneof({ weight: 4, arbitrary: fc.constant(256) }, fc.nat(600));
    const messages = lengths.chain((length) =>
      fc.uint8Array({ minLength: length, maxLength: length }),
    );
    fc.assert(
      fc.property(messages, (message) => {
        const signature = blindSign(PRIVATE_KEY, message);
        const fits = message.length === 256 && modulus.compare(message) > 0;
        expect(signature !== undefined).toBe(fits);
        if (signature !== undefined)
          expect(rawPublic(KEY, signature)).toEqual(Buffer.from(message));
      }),
    );
  });

  test('a faulty computation throws, since its result would reveal the key', () => {
    const { d = '', dp = '', ...rest } = PRIVATE_KEY.export({ format: 'jwk' });
    const broken = (text: string) => {
      const bytes = Buffer.from(text, 'base64url');
      bytes[10] = (bytes[10] ?? 0) ^ 1;
      return bytes.toString('base64url');
    };
    const key = createPrivateKey({ key: { ...rest, d: broken(d), dp: broken(dp) }, format: 'jwk' });
    expect(() => blindSign(key, Buffer.alloc(256, 5))).toThrow('blind signing failed');
  });
});

describe('RFC 9578 section 6.4: verification', () => {
  test('an input with any bit changed is refused', () => {
    for (let at = 0; at < TOKEN.input.length; at += 1) {
      const input = Buffer.from(TOKEN.input);
      input[at] = (input[at] ?? 0) ^ (1 << (at % 8));
      expect(verifyBlindRsa(KEY, input, TOKEN.authenticator)).toBe(false);
    }
  });

  test('an authenticator with any bit changed is refused', () => {
    for (let at = 0; at < TOKEN.authenticator.length; at += 1) {
      const authenticator = Buffer.from(TOKEN.authenticator);
      authenticator[at] = (authenticator[at] ?? 0) ^ (1 << (at % 8));
      expect(verifyBlindRsa(KEY, TOKEN.input, authenticator)).toBe(false);
    }
  });

  test('a truncated or extended authenticator is refused', () => {
    for (const length of [0, 1, 255]) {
      expect(verifyBlindRsa(KEY, TOKEN.input, TOKEN.authenticator.subarray(0, length))).toBe(false);
    }
    for (const more of [1, 256]) {
      const longer = Buffer.concat([TOKEN.authenticator, Buffer.alloc(more)]);
      expect(verifyBlindRsa(KEY, TOKEN.input, longer)).toBe(false);
    }
  });

  test('an authenticator with n added to it is refused', () => {
    const integer = (bytes: Buffer) => BigInt(`0x${bytes.toString('hex')}`);
    const sum = (integer(TOKEN.authenticator) + integer(rsaModulus(KEY))).toString(16);
    expect(verifyBlindRsa(KEY, TOKEN.input, hex(sum.padStart(514, '0')))).toBe(false);
    if (sum.length <= 512) expect(verifyBlindRsa(KEY, TOKEN.input, hex(sum))).toBe(false);
  });

  test.each([0x00, 0x01, 0xff])('an authenticator of 256 octets of %d is refused', (octet) => {
    expect(verifyBlindRsa(KEY, TOKEN.input, Buffer.alloc(256, octet))).toBe(false);
  });

  test('a token is refused with another key', async () => {
    const other = required(blindRsaPublicKey((await generateBlindRsaKey()).publicKey));
    expect(verifyBlindRsa(other, TOKEN.input, TOKEN.authenticator)).toBe(false);
  });

  test('any octets as an authenticator are refused without an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 600 }), (a, b) => {
        expect(verifyBlindRsa(KEY, a, b)).toBe(false);
      }),
    );
  });
});

describe('RFC 9578 section 6.5: keys', () => {
  test('a new key has the form of its type, and no two keys are equal', async () => {
    const [one, two] = await Promise.all([generateBlindRsaKey(), generateBlindRsaKey()]);
    expect(one.id).not.toEqual(two.id);
    expect(one.type).toBe(BLIND_RSA);
    expect(one.id).toEqual(tokenKeyId(one.publicKey));
    expect(one.publicKey).toHaveLength(SPKI.length);
    const key = required(blindRsaPublicKey(one.publicKey));
    expect(key.asymmetricKeyDetails).toEqual({ modulusLength: 2048, publicExponent: 65_537n });
    const pkcs8 = { key: one.privateKey, format: 'der', type: 'pkcs8' } as const;
    expect(encodeSpki(createPublicKey(createPrivateKey(pkcs8)))).toEqual(one.publicKey);
  });

  test('OpenSSL reads the encoding as RSASSA-PSS with SHA-384 and 48 octets of salt', () => {
    const key = createPublicKey({ key: SPKI, format: 'der', type: 'spki' });
    expect(key.asymmetricKeyType).toBe('rsa-pss');
    expect(key.asymmetricKeyDetails).toMatchObject({
      hashAlgorithm: 'sha384',
      mgf1HashAlgorithm: 'sha384',
      saltLength: 48,
    });
  });

  test('a key with any bit before the modulus changed is refused', () => {
    for (let bit = 0; bit < MODULUS * 8; bit += 1) {
      const spki = Buffer.from(SPKI);
      const at = Math.floor(bit / 8);
      spki[at] = (spki[at] ?? 0) ^ (1 << (bit % 8));
      expect(blindRsaPublicKey(spki)).toBeUndefined();
    }
  });

  test('a key that is truncated, or has octets behind it, is refused', () => {
    for (let length = 0; length < SPKI.length; length += 1) {
      expect(blindRsaPublicKey(SPKI.subarray(0, length))).toBeUndefined();
    }
    for (const more of [1, 2, 256, 65_536]) {
      expect(blindRsaPublicKey(Buffer.concat([SPKI, Buffer.alloc(more)]))).toBeUndefined();
    }
  });

  const spkiOf = (pair: { publicKey: KeyObject }) =>
    pair.publicKey.export({ format: 'der', type: 'spki' });
  const rsa = (modulusLength: number, publicExponent = 65_537) =>
    generateKeyPairSync('rsa', { modulusLength, publicExponent });
  const pss = (hashAlgorithm: string, mgf1HashAlgorithm: string) =>
    generateKeyPairSync('rsa-pss', {
      modulusLength: 2048,
      hashAlgorithm,
      mgf1HashAlgorithm,
    });

  test.each([
    ['rsaEncryption', () => spkiOf(rsa(2048))],
    ['SHA-384 with NULL, as OpenSSL writes it', () => spkiOf(pss('sha384', 'sha384'))],
    ['SHA-256', () => spkiOf(pss('sha256', 'sha256'))],
    ['MGF1 with SHA-256', () => spkiOf(pss('sha384', 'sha256'))],
    ['1024 bits', () => encodeSpki(rsa(1024).publicKey)],
    ['2047 bits', () => encodeSpki(rsa(2047).publicKey)],
    ['3072 bits', () => encodeSpki(rsa(3072).publicKey)],
    ['the exponent 3', () => encodeSpki(rsa(2048, 3).publicKey)],
    ['the bare RSAPublicKey', () => SPKI.subarray(RSA_PUBLIC_KEY)],
    ['a P-256 key', () => spkiOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }))],
    ['a key of the other type', () => hex(required(type1[0]).pkS)],
    ['nothing', () => Buffer.alloc(0)],
  ])('%s is refused', (_, spki) => expect(blindRsaPublicKey(spki())).toBeUndefined());

  const withNumbers = (n: Buffer, e: Buffer) =>
    encodeSpki(
      createPublicKey({
        key: { kty: 'RSA', n: n.toString('base64url'), e: e.toString('base64url') },
        format: 'jwk',
      }),
    );

  test.each([
    ['1', hex('01')],
    ['65535', hex('ffff')],
    ['65538, which is even', hex('010002')],
    ['2^256 + 1', Buffer.concat([hex('01'), Buffer.alloc(31), hex('01')])],
  ])('the exponent %s is refused', (_, exponent) => {
    expect(blindRsaPublicKey(withNumbers(rsaModulus(KEY), exponent))).toBeUndefined();
  });

  test('FIPS 186-5 appendix A.1.1: another odd exponent within the bounds is accepted', () => {
    for (const exponent of [hex('010003'), Buffer.alloc(32, 0xff)]) {
      const spki = withNumbers(rsaModulus(KEY), exponent);
      expect(encodeSpki(required(blindRsaPublicKey(spki)))).toEqual(spki);
    }
  });

  test('a key with an even modulus is refused', () => {
    const even = Buffer.from(rsaModulus(KEY));
    even[255] = (even[255] ?? 0) - 1;
    expect(blindRsaPublicKey(withNumbers(even, hex('010001')))).toBeUndefined();
  });

  test('any octets give undefined, or a key with the same encoding', () => {
    const damaged = fc
      .array(fc.tuple(fc.nat(SPKI.length - 1), fc.nat(255)), { maxLength: 3 })
      .map((changes) => {
        const bytes = Buffer.from(SPKI);
        for (const [at, octet] of changes) bytes[at] = octet;
        return bytes;
      });
    fc.assert(
      fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 400 })), (bytes) => {
        const key = blindRsaPublicKey(bytes);
        if (key === undefined) return;
        expect(encodeSpki(key)).toEqual(Buffer.from(bytes));
        expect(typeof verifyBlindRsa(key, TOKEN.input, TOKEN.authenticator)).toBe('boolean');
      }),
      { numRuns: 500 },
    );
  });
});
