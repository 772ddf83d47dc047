import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { p384 } from '@noble/curves/nist.js';
import * as fc from 'fast-check';
import { type Random, systemRandom } from '#shared/base/random.ts';
import rfc9497 from './vectors/rfc9497-voprf.json' with { type: 'json' };
import go from './vectors/rfc9578-type1-go.json' with { type: 'json' };
import rust from './vectors/rfc9578-type1-rust.json' with { type: 'json' };
import { blindEvaluate, evaluate } from './voprf.ts';
import { generateVoprfKey, isElement, isVoprfPublicKey } from './voprf-key.ts';
import { blindVoprf } from './voprf-client.ts';

const hex = (text: string) => Buffer.from(text, 'hex');
const ORDER = p384.Point.Fn.ORDER;
const FIELD = p384.Point.Fp.ORDER;
const number = (value: bigint, length = 48) => hex(value.toString(16).padStart(2 * length, '0'));

/** Returns randomness that gives this scalar: RandomScalar reduces it modulo the order less one, and adds one. */
const drawn =
  (scalar: string): Random =>
  (length) =>
    number(BigInt(`0x${scalar}`) - 1n, length);

const key = generateVoprfKey();
const input = Buffer.from('the input of a token');

interface Vector {
  readonly Batch: number;
  readonly Blind: string;
  readonly BlindedElement: string;
  readonly EvaluationElement: string;
  readonly Input: string;
  readonly Output: string;
  readonly Proof?: { readonly proof: string; readonly r: string };
}

describe('RFC 9497 appendix A.4.2: P384-SHA384, VOPRF mode', () => {
  const suite = rfc9497.find(({ identifier, mode }) => identifier === 'P384-SHA384' && mode === 1);
  const [skS, pkS] = [hex(suite?.skSm ?? ''), hex(suite?.pkSm ?? '')];
  const vectors: readonly Vector[] = suite?.vectors ?? [];

  test.each(vectors.filter(({ Batch }) => Batch === 1))('input $Input', (vector) => {
    const client = blindVoprf(pkS, hex(vector.Input), drawn(vector.Blind));
    expect(client.blinded.toString('hex')).toBe(vector.BlindedElement);
    const { proof = '', r = '' } = vector.Proof ?? {};
    const response = blindEvaluate(skS, pkS, client.blinded, drawn(r)) ?? Buffer.alloc(0);
    expect(response.toString('hex')).toBe(vector.EvaluationElement + proof);
    expect(client.finalize(response)?.toString('hex')).toBe(vector.Output);
    expect(evaluate(skS, hex(vector.Input)).toString('hex')).toBe(vector.Output);
  });
});

describe.each([
  ['Go', go],
  ['Rust', rust],
])('RFC 9578 appendix A.1: what the implementation in %s made', (_, vectors) => {
  test.each(vectors)('nonce $nonce', (vector) => {
    const [skS, pkS, request, response, token] = [
      hex(vector.skS),
      hex(vector.pkS),
      hex(vector.token_request),
      hex(vector.token_response),
      hex(vector.token),
    ];
    const [tokenInput, authenticator] = [token.subarray(0, -48), token.subarray(-48)];
    const client = blindVoprf(pkS, tokenInput, drawn(vector.blind));
    expect(client.blinded).toEqual(request.subarray(3));
    expect(client.finalize(response)).toEqual(authenticator);
    expect(evaluate(skS, tokenInput)).toEqual(authenticator);
    const ours = blindEvaluate(skS, pkS, client.blinded) ?? Buffer.alloc(0);
    expect(ours).toHaveLength(145);
    expect(ours.subarray(0, 49)).toEqual(response.subarray(0, 49));
    expect(client.finalize(ours)).toEqual(authenticator);
  });
});

describe('RFC 9497 section 3.2: GenerateKeyPair', () => {
  test('a new pair has a public key that belongs to its private key, and the id of the public key', () => {
    expect(key.publicKey).toEqual(Buffer.from(p384.getPublicKey(key.privateKey, true)));
    expect(key.privateKey).toHaveLength(48);
    expect(key.id).toEqual(createHash('sha256').update(key.publicKey).digest());
    expect(key.type).toBe(1);
    expect(isVoprfPublicKey(key.publicKey)).toBe(true);
  });

  test('a key depends only on its randomness, and each call makes another key', () => {
    const fixed: Random = (bytes) => Buffer.alloc(bytes, 7);
    expect(generateVoprfKey(fixed)).toEqual(generateVoprfKey(fixed));
    expect(generateVoprfKey().privateKey).not.toEqual(key.privateKey);
  });

  test.each([
    ['0', 0n, 1n],
    ['the order less 2', ORDER - 2n, ORDER - 1n],
    ['the order less 1', ORDER - 1n, 1n],
    ['the largest number', 2n ** 576n - 1n, ((2n ** 576n - 1n) % (ORDER - 1n)) + 1n],
  ])(
    'section 4.7.2: randomness of %s gives a scalar from 1 to the order less 1',
    (_, bits, scalar) => {
      const { privateKey } = generateVoprfKey((length) => number(bits, length));
      expect(privateKey).toEqual(number(scalar));
    },
  );
});

describe('RFC 9497 sections 2.1 and 4.4: DeserializeElement', () => {
  const element = key.publicKey;
  const x = element.subarray(1);
  const uncompressed = Buffer.from(p384.Point.fromBytes(element).toBytes(false));
  const point = (value: bigint) => Buffer.concat([Buffer.of(2), number(value)]);
  const small = Array.from({ length: 50 }, (_, value) => BigInt(value));
  const onCurve = small.filter((value) => isElement(point(value)));

  test('DeserializeElement accepts both parities of y', () => {
    expect(isElement(Buffer.concat([Buffer.of(2), x]))).toBe(true);
    expect(isElement(Buffer.concat([Buffer.of(3), x]))).toBe(true);
  });

  test('DeserializeElement reads only its part of a larger Buffer', () => {
    const pool = Buffer.concat([Buffer.alloc(5, 1), element, Buffer.alloc(5, 1)]);
    expect(isElement(pool.subarray(5, 54))).toBe(true);
    expect(isElement(pool.subarray(5, 55))).toBe(false);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['the identity in one octet', Buffer.of(0)],
    ['the identity, padded', Buffer.alloc(49)],
    ['a truncated point', element.subarray(0, 48)],
    ['a point and an octet behind it', Buffer.concat([element, Buffer.of(0)])],
    ['an uncompressed point', uncompressed],
    ['the beginning of an uncompressed point', uncompressed.subarray(0, 49)],
    ['a hybrid point', Buffer.concat([Buffer.of(6), uncompressed.subarray(1)])],
    ...[0, 1, 4, 5, 6, 7, 255].map(
      (prefix) => [`the prefix ${prefix}`, Buffer.concat([Buffer.of(prefix), x])] as const,
    ),
    ['x of the size of the field', point(FIELD)],
    ['the greatest x', point(2n ** 384n - 1n)],
  ])('refuses %s', (_, bytes) => {
    expect(isElement(bytes)).toBe(false);
    expect(blindEvaluate(key.privateKey, key.publicKey, bytes)).toBeUndefined();
  });

  test('DeserializeElement refuses about half of all x, for which no point exists', () => {
    expect(onCurve.length).toBeGreaterThan(0);
    expect(onCurve.length).toBeLessThan(small.length);
  });

  test('DeserializeElement refuses the second spelling of an x', () => {
    for (const value of onCurve) expect(isElement(point(value + FIELD))).toBe(false);
  });

  test('DeserializeElement agrees with another implementation on any octets, and never throws', () => {
    const rest = fc.oneof(fc.uint8Array(), fc.uint8Array({ minLength: 48, maxLength: 48 }));
    fc.assert(
      fc.property(fc.constantFrom(0, 2, 3, 4), rest, (prefix, octets) => {
        const bytes = Buffer.concat([Buffer.of(prefix), octets]);
        expect(isElement(bytes)).toBe(accepts(() => p384.Point.fromBytes(bytes)));
      }),
    );
  });
});

describe('RFC 9497 section 3.3.2: BlindEvaluate', () => {
  const { blinded } = blindVoprf(key.publicKey, input, systemRandom);

  test('each proof uses new randomness, since repeated randomness would reveal the private key', () => {
    const [one, other] = [1, 2].map(() => blindEvaluate(key.privateKey, key.publicKey, blinded));
    expect(one?.subarray(0, 49)).toEqual(other?.subarray(0, 49));
    expect(one?.subarray(49, 97)).not.toEqual(other?.subarray(49, 97));
    expect(one?.subarray(97)).not.toEqual(other?.subarray(97));
  });

  test('without randomness no proof is made', () => {
    const none: Random = () => {
      throw new Error('no entropy');
    };
    expect(() => blindEvaluate(key.privateKey, key.publicKey, blinded, none)).toThrow('no entropy');
    expect(() =>
      blindEvaluate(key.privateKey, key.publicKey, blinded, () => Buffer.alloc(0)),
    ).toThrow();
  });

  test.each([
    ['zero', Buffer.alloc(48)],
    ['the order of the group', number(ORDER)],
    ['the greatest', Buffer.alloc(48, 255)],
    ['too short', key.privateKey.subarray(1)],
    ['too long', Buffer.concat([Buffer.of(0), key.privateKey])],
    ['nothing', Buffer.alloc(0)],
  ])('an invalid private key is a defect: %s', (_, privateKey) => {
    expect(() => blindEvaluate(privateKey, key.publicKey, blinded)).toThrow();
    expect(() => evaluate(privateKey, input)).toThrow();
  });

  test.each([
    ['the identity', Buffer.alloc(49)],
    ['truncated', key.publicKey.subarray(1)],
    ['nothing', Buffer.alloc(0)],
  ])('an invalid public key is a defect: %s', (_, publicKey) => {
    expect(() => blindEvaluate(key.privateKey, publicKey, blinded)).toThrow();
  });

  test('no error contains a private key', () => {
    const privateKey = number(ORDER + 12_345n);
    const spellings = [privateKey.toString('hex'), String(ORDER + 12_345n)];
    for (const call of [
      () => blindEvaluate(privateKey, key.publicKey, blinded),
      () => evaluate(privateKey, input),
    ]) {
      const error = thrown(call);
      for (const spelling of spellings) expect(error).not.toContain(spelling);
    }
  });

  test('BlindEvaluate does not change its arguments', () => {
    const before = [key.privateKey, key.publicKey, blinded, input].map((each) => Buffer.from(each));
    blindEvaluate(key.privateKey, key.publicKey, blinded);
    evaluate(key.privateKey, input);
    expect([key.privateKey, key.publicKey, blinded, input]).toEqual(before);
  });
});

test('RFC 9578 section 5.4: another input or another key has another authenticator', () => {
  const authenticator = evaluate(key.privateKey, input);
  expect(authenticator).toHaveLength(48);
  expect(evaluate(key.privateKey, input)).toEqual(authenticator);
  expect(evaluate(key.privateKey, input.subarray(1))).not.toEqual(authenticator);
  expect(evaluate(generateVoprfKey().privateKey, input)).not.toEqual(authenticator);
});

function accepts(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

function thrown(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return error instanceof Error ? `${error.message}${error.stack}` : String(error);
  }
  throw new Error('nothing was thrown');
}
