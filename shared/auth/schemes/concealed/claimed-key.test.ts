/** @slow */
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readPublicKey } from '#shared/people/public-key.ts';
import { claimedKey } from './claimed-key.ts';
import { type SchemeNumber, SIGNERS } from './concealed.fixture.ts';
import { SIGNATURE_SCHEMES } from './signature-schemes.ts';

const rsa = (modulusLength: number, publicExponent = 65_537) =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey;

const SCHEMES = [...SIGNATURE_SCHEMES];
const SPKI = { format: 'der', type: 'spki' } as const;

function claimed(s: number, key: KeyObject) {
  const scheme = SIGNATURE_SCHEMES.get(s);
  return scheme && claimedKey(scheme, scheme.encode(key));
}

describe('RFC 9729 section 3.1.1: the key in the parameter `a`', () => {
  test.each([
    ...(Object.keys(SIGNERS).map(Number) as SchemeNumber[]).map(
      (s) => [s, createPublicKey(SIGNERS[s].make())] as const,
    ),
    [0x0804, rsa(2056)] as const,
    [0x0804, rsa(4096)] as const,
    [0x0804, rsa(2048, 2 ** 31 + 11)] as const,
  ])('a key for the signature scheme %i is read as the key that the directory has', (s, key) => {
    const { id, spki } = readPublicKey(key.export(SPKI), 'Concealed');
    const found = claimed(s, key);
    expect({ id: found?.id, spki: found?.spki }).toEqual({ id, spki });
    expect(found?.key.equals(key)).toBe(true);
  });

  test.each([
    ['1024 bits', () => rsa(1024)],
    ['an exponent of 3', () => rsa(2048, 3)],
    ['an even modulus and an exponent of 2048 bits', () => odd(256)],
    ['more than 8192 bits', () => odd(1025)],
  ])('a key is refused, as in the directory, if it has %s', (_, make) => {
    const key = make();
    expect(() => readPublicKey(key.export(SPKI), 'Concealed')).toThrow();
    expect(claimed(0x0804, key)).toBeUndefined();
  });

  test('a key is refused if its point is compressed or not on the curve', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const scheme = SIGNATURE_SCHEMES.get(0x0403);
    if (scheme === undefined) throw new Error('no P-256');
    const point = scheme.encode(publicKey);
    expect(claimedKey(scheme, point)).toBeDefined();
    const compressed = Buffer.concat([Buffer.of(2), point.subarray(1, 33)]);
    for (const other of [compressed, Buffer.alloc(65, 4), point.subarray(0, -1)]) {
      expect(claimedKey(scheme, other)).toBeUndefined();
    }
  });

  test('any octets in `a` give no error, and no signature is verified', () => {
    const encoded = SCHEMES.map(([s, scheme]) =>
      scheme.encode(createPublicKey(SIGNERS[s as SchemeNumber].make())),
    );
    const changes = fc.array(fc.tuple(fc.nat({ max: 300 }), fc.nat({ max: 255 })), {
      minLength: 1,
      maxLength: 3,
    });
    const which = fc.nat({ max: SCHEMES.length - 1 });
    fc.assert(
      fc.property(which, changes, fc.uint8Array({ maxLength: 300 }), (at, changed, signature) => {
        const [, scheme] = SCHEMES[at] ?? [];
        const octets = Buffer.from(encoded[at] ?? []);
        for (const [place, octet] of changed) octets[place % octets.length] = octet;
        for (const one of scheme ? [octets, Buffer.from(signature)] : []) {
          const key = scheme && claimedKey(scheme, one)?.key;
          expect(key && scheme.verifies(octets, key, Buffer.from(signature))).toBeFalsy();
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** Returns an RSA key of so many bytes; its modulus is not a product of known primes. */
function odd(size: number): KeyObject {
  const n = Buffer.alloc(size, 0xfe).toString('base64url');
  return createPublicKey({ key: { kty: 'RSA', n, e: n }, format: 'jwk' });
}
