import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { type JwsAlgorithm, MESSAGE_ALGORITHMS } from '#shared/jose/algorithms.ts';
import { BadSignature, type SignedRequest } from './message.ts';
import { input, withFields } from './message.fixture.ts';
import type { Policy } from './policy.ts';
import { signatureFields } from './signed-request.ts';
import { claimedSignature, verifySignature } from './verify.ts';

const NOW = 1_800_000_000;
/** The requirements of GNAP for a signature (RFC 9635 section 7.3.1). */
const POLICY: Policy = {
  covered: ['"@method"', '"@target-uri"'],
  tag: 'gnap',
  required: ['keyid'],
  refused: ['alg'],
  window: 60,
};
const ANY: Policy = { ...POLICY, tag: undefined, required: [], refused: [] };
const COVERED = '("@method" "@target-uri" "content-type")';
const GOOD = `${COVERED};created=${NOW};keyid="k";tag="gnap"`;

const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ED25519 = generateKeyPairSync('ed25519');
const PAIRS: Readonly<Record<string, { publicKey: KeyObject; privateKey: KeyObject }>> = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  RS256: RSA,
  PS256: RSA,
  PS512: RSA,
  EdDSA: ED25519,
  Ed25519: ED25519,
};
const NAMES = Object.keys(PAIRS);

function keyOf(alg: string) {
  const algorithm = MESSAGE_ALGORITHMS.get(alg);
  const pair = PAIRS[alg];
  if (algorithm === undefined || pair === undefined) throw new Error(alg);
  return { algorithm, key: pair.publicKey, privateKey: pair.privateKey };
}

const FIELDS = { 'Content-Type': 'application/json' };
const request = (fields: Readonly<Record<string, string | readonly string[]>> = {}) =>
  ({
    method: 'POST',
    targetUri: 'https://as.example/gnap',
    requestTarget: '/gnap',
    ...withFields({ ...FIELDS, ...fields }),
  }) satisfies SignedRequest;

/** Returns the fields of a signature with these parameters. */
function fieldsOf(text = GOOD, alg: JwsAlgorithm['alg'] = 'Ed25519', label = 'sig') {
  return signatureFields(request(), { label, ...input(text), alg, key: keyOf(alg).privateKey });
}

type Fields = ReturnType<typeof fieldsOf>;
const claimed = (fields: Partial<Fields>, policy = POLICY, now = NOW) =>
  claimedSignature(request(fields), policy, now);

describe('RFC 9421 section 3.3.7: each algorithm', () => {
  test.each(NAMES)('%s verifies what its key has signed', (alg) => {
    const key = keyOf(alg);
    const found = claimed(fieldsOf(GOOD, key.algorithm.alg));
    expect(() => verifySignature(found, key)).not.toThrow();
  });

  test.each(NAMES.flatMap((one) => NAMES.map((other) => [one, other])))(
    'a signature by %s is refused with a key for %s',
    (one, other) => {
      const same = one === other || [one, other].every((alg) => alg.startsWith('Ed'));
      const found = claimed(fieldsOf(GOOD, keyOf(one).algorithm.alg));
      const verify = () => verifySignature(found, keyOf(other));
      if (same) expect(verify).not.toThrow();
      else expect(verify).toThrow(BadSignature);
    },
  );

  test.each(NAMES)('%s refuses a key of another type', (alg) => {
    const found = claimed(fieldsOf());
    const { publicKey } = generateKeyPairSync('x25519');
    expect(() => verifySignature(found, { ...keyOf(alg), key: publicKey })).toThrow('does not fit');
  });

  test.each(NAMES)('%s refuses a signature that is truncated, longer or empty', (alg) => {
    const key = keyOf(alg);
    const found = claimed(fieldsOf(GOOD, key.algorithm.alg));
    const { signature } = found;
    for (const other of [
      signature.subarray(1),
      Buffer.concat([signature, Buffer.of(0)]),
      Buffer.alloc(0),
      Buffer.alloc(signature.length),
    ]) {
      expect(() => verifySignature({ ...found, signature: other }, key)).toThrow(BadSignature);
    }
  });
});

describe('RFC 9421 section 3.2: the parameter alg', () => {
  const REGISTRY = [
    ['rsa-pss-sha512', 'PS512'],
    ['rsa-v1_5-sha256', 'RS256'],
    ['ecdsa-p256-sha256', 'ES256'],
    ['ecdsa-p384-sha384', 'ES384'],
    ['ed25519', 'Ed25519'],
    ['ed25519', 'EdDSA'],
  ] as const;
  const withAlg = (name: string) => `${COVERED};created=${NOW};alg="${name}"`;

  test.each(REGISTRY)('the parameter %s is accepted for a key of %s', (name, alg) => {
    const found = claimed(fieldsOf(withAlg(name), alg), ANY);
    expect(() => verifySignature(found, keyOf(alg))).not.toThrow();
  });

  test.each(['rsa-pss-sha512', 'hmac-sha256', 'ES256', 'none', '', 'constructor'])(
    '%j is refused with a key of Ed25519, although the signature is good',
    (name) => {
      const found = claimed(fieldsOf(withAlg(name)), ANY);
      expect(() => verifySignature(found, keyOf('Ed25519'))).toThrow('the key is not for');
    },
  );
});

test('ECDSA: the second valid signature has other octets, but the same base', () => {
  const key = keyOf('ES256');
  const found = claimed(fieldsOf(GOOD, 'ES256'));
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const s = BigInt(`0x${found.signature.subarray(32).toString('hex')}`);
  const other = Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex');
  const signature = Buffer.concat([found.signature.subarray(0, 32), other]);
  expect(() => verifySignature({ ...found, signature }, key)).not.toThrow();
  expect(signature.equals(found.signature)).toBe(false);
});

describe('a message that was changed after it was signed', () => {
  const verified = (changed: Partial<SignedRequest>) => {
    const message = { ...request(fieldsOf()), ...changed };
    verifySignature(claimedSignature(message, POLICY, NOW), keyOf('Ed25519'));
  };

  test.each<[string, Partial<SignedRequest>]>([
    ['method', { method: 'PUT' }],
    ['target', { targetUri: 'https://as.example/gnap?' }],
    ['origin', { targetUri: 'https://other.example/gnap' }],
    ['covered field', withFields({ ...fieldsOf(), 'Content-Type': 'text/plain' })],
  ])('a message is refused after a change of its %s', (_, changed) => {
    expect(() => verified(changed)).toThrow('not of this message');
  });

  test('a message is accepted after a change of a field that is not covered', () => {
    expect(() => verified({ requestTarget: 'https://as.example/gnap' })).not.toThrow();
  });
});

describe('malformed fields', () => {
  test('random octets in both fields are refused, without another exception', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab1=,;()":?@ -\\\t'.split('')) });
    fc.assert(
      fc.property(text, text, (one, other) => {
        const fields = { 'Signature-Input': one, Signature: other };
        expect(() => claimed(fields)).toThrow(BadSignature);
      }),
      { numRuns: 2000 },
    );
  });

  test('a good signature with a changed octet is refused', () => {
    const good = fieldsOf();
    const change = (text: string, at: number, by: string) =>
      text.slice(0, at % text.length) + by + text.slice((at % text.length) + 1);
    const octet = fc.constantFrom(...'a0=,;()":? '.split(''));
    fc.assert(
      fc.property(fc.nat(300), octet, fc.boolean(), (at, by, inInput) => {
        const name = inInput ? 'Signature-Input' : 'Signature';
        const text = change(good[name], at, by);
        fc.pre(text !== good[name]);
        // The label has no meaning, white space is not signed, and the last bits of base64 are unused.
        const fields = { ...good, [name]: text };
        try {
          const found = claimed(fields);
          verifySignature(found, keyOf('Ed25519'));
          expect(found.base).toBe(claimed(good).base);
        } catch (error) {
          expect(error).toBeInstanceOf(BadSignature);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
