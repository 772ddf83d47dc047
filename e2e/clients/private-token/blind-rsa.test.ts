import {
  constants,
  createPrivateKey,
  generateKeyPairSync,
  privateDecrypt,
  randomBytes,
} from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import vectors from '../../../shared/private-token/vectors/rfc9474-blind-rsa.json' with { type: 'json' };
import type2 from '../../../shared/private-token/vectors/rfc9578-type2-go.json' with { type: 'json' };
import { blindRsa, encodePss, readSpki, verifyRsa } from './blind-rsa.ts';
import { inverse, toOctets } from './numbers.ts';

const hex = (text: string) => Buffer.from(text.replace(/^0x/, ''), 'hex');

test('the vectors of RFC 9474 appendix A cover its four variants', () => {
  expect(vectors.map(({ name }) => name).toSorted()).toEqual([
    'RSABSSA-SHA384-PSS-Deterministic',
    'RSABSSA-SHA384-PSS-Randomized',
    'RSABSSA-SHA384-PSSZERO-Deterministic',
    'RSABSSA-SHA384-PSSZERO-Randomized',
  ]);
});

describe.each(vectors)('RFC 9474 appendix A: $name', (vector) => {
  const [modulus, exponent] = [BigInt(vector.n), BigInt(vector.e)];
  const key = { modulus, exponent, octets: hex(vector.n).length };
  const input = hex(vector.input_msg);
  const salt = hex(vector.salt);
  const factor = toOctets(inverse(BigInt(vector.inv), modulus), key.octets);
  const random = (octets: number) => (octets === key.octets ? factor : salt);
  const client = blindRsa(key, input, random, Number(vector.sLen));
  const response = hex(vector.blind_sig);
  const signature = hex(vector.sig);

  test("Blind and Finalize give the vector's values", () => {
    expect(client.request).toEqual(hex(vector.blinded_msg));
    expect(client.finalize(response)).toEqual(signature);
  });

  test('a changed, short or long response is refused', () => {
    const changed = Buffer.from(response);
    changed[100] = (changed[100] ?? 0) ^ 1;
    const others = [changed, response.subarray(1), Buffer.concat([response, Buffer.of(0)])];
    for (const other of others) expect(() => client.finalize(other)).toThrow();
  });

  test('the signature is valid for this input and this salt only', () => {
    const saltOctets = Number(vector.sLen);
    expect(verifyRsa(key, input, signature, saltOctets)).toBe(true);
    expect(verifyRsa(key, input.subarray(1), signature, saltOctets)).toBe(false);
    expect(verifyRsa(key, input, signature, 48 - saltOctets)).toBe(false);
  });
});

test.each(vectors.filter((vector) => 'encoded_msg' in vector))(
  'RFC 8017 section 9.1.1: EMSA-PSS-ENCODE gives the value of $name',
  ({ input_msg: input, salt, encoded_msg: encoded = '' }) => {
    expect(encodePss(hex(input), hex(salt), 4095)).toEqual(hex(encoded));
  },
);

describe('keys of type 2 (RFC 9578 section 6.5)', () => {
  const spki = hex(type2[0]?.pkS ?? '');

  test("the vectors' keys are read, and belong to their private keys", () => {
    for (const { pkS, skS } of type2) {
      const { n = '' } = createPrivateKey(hex(skS)).export({ format: 'jwk' });
      const { modulus } = readSpki(hex(pkS));
      expect(toOctets(modulus, 256).toString('base64url')).toBe(n);
    }
  });

  test('every other encoding is refused', () => {
    const changedAt = [...spki.keys()].filter((at) => at < 81 || at >= 337);
    for (const at of changedAt) {
      const changed = Buffer.from(spki);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => readSpki(changed)).toThrow('not a key');
    }
    const longer = Buffer.concat([spki, Buffer.of(0)]);
    for (const other of [longer, spki.subarray(0, -1), Buffer.alloc(0)]) {
      expect(() => readSpki(other)).toThrow('not a key');
    }
  });

  test('a modulus of 2047 bits and an even modulus are refused', () => {
    for (const at of [81, 336]) {
      const changed = Buffer.from(spki);
      changed[at] = at === 81 ? 0x7f : 0;
      expect(() => readSpki(changed)).toThrow('not a key');
    }
  });

  test.each([
    ['rsaEncryption', 'rsa', 2048, {}],
    ['RSASSA-PSS without parameters', 'rsa-pss', 2048, {}],
    ['a salt of 32', 'rsa-pss', 2048, pss('sha384', 'sha384', 32)],
    ['MGF1 with SHA-256', 'rsa-pss', 2048, pss('sha384', 'sha256', 48)],
    ['what OpenSSL writes, with NULL parameters', 'rsa-pss', 2048, pss('sha384', 'sha384', 48)],
    ['SHA-256', 'rsa-pss', 2048, pss('sha256', 'sha384', 48)],
    ['1024 bits', 'rsa-pss', 1024, pss('sha384', 'sha384', 48)],
  ] as const)('%s is refused', (_what, type, modulusLength, parameters) => {
    expect(() => readSpki(publicKey(type, modulusLength, parameters))).toThrow('not a key');
  });
});

test('a signature by OpenSSL is accepted after unblinding, and a signature by another key is not', () => {
  const jwk = { format: 'jwk' } as const;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { n = '', e = '' } = privateKey.export(jwk);
  const integer = (text: string) => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`);
  const key = { modulus: integer(n), exponent: integer(e), octets: 256 };
  const input = Buffer.from('input');
  const client = blindRsa(key, input, randomBytes);
  const padding = constants.RSA_NO_PADDING;
  const response = privateDecrypt({ key: privateKey, padding }, client.request);
  expect(verifyRsa(key, input, client.finalize(response))).toBe(true);
  // Below both moduli, because OpenSSL would refuse it otherwise.
  const small = Buffer.concat([Buffer.alloc(1), randomBytes(255)]);
  const wrong = privateDecrypt({ key: other.privateKey, padding }, small);
  expect(() => client.finalize(wrong)).toThrow('did not use the key');
});

function pss(hashAlgorithm: string, mgf1HashAlgorithm: string, saltLength: number) {
  return { hashAlgorithm, mgf1HashAlgorithm, saltLength };
}

function publicKey(type: 'rsa' | 'rsa-pss', modulusLength: number, parameters: object): Buffer {
  const written =
    type === 'rsa'
      ? generateKeyPairSync(type, { modulusLength })
      : generateKeyPairSync(type, { modulusLength, ...parameters });
  return written.publicKey.export({ type: 'spki', format: 'der' });
}
