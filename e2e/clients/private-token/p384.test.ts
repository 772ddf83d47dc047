import { createECDH } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { hashToCurve } from './hash-to-curve.ts';
import { toOctets } from './numbers.ts';
import {
  GENERATOR,
  IDENTITY,
  ORDER,
  P,
  add,
  curveAt,
  deserialize,
  multiply,
  serialize,
  squareRoot,
} from './p384.ts';

const scalars = fc.bigInt({ min: 1n, max: ORDER - 1n });

describe('the group of P-384', () => {
  test("multiples of the generator equal OpenSSL's", () => {
    fc.assert(
      fc.property(scalars, (scalar) => {
        const ecdh = createECDH('secp384r1');
        ecdh.setPrivateKey(toOctets(scalar, 48));
        const expected = ecdh.getPublicKey('hex', 'compressed');
        expect(serialize(multiply(scalar, GENERATOR)).toString('hex')).toBe(expected);
      }),
      { numRuns: 20 },
    );
  });

  test('a point can be added to itself, to its opposite and to the identity', () => {
    const twice = multiply(2n, GENERATOR);
    expect(serialize(add(GENERATOR, GENERATOR))).toEqual(serialize(twice));
    expect(add(twice, multiply(ORDER - 2n, GENERATOR)).z).toBe(0n);
    expect(multiply(ORDER, GENERATOR).z).toBe(0n);
    expect(add(IDENTITY, twice)).toEqual(twice);
    expect(add(twice, IDENTITY)).toEqual(twice);
  });

  test('the identity is never sent (RFC 9497 section 4.4)', () => {
    expect(() => serialize(IDENTITY)).toThrow(RangeError);
  });

  test('a serialized point is read back', () => {
    fc.assert(
      fc.property(scalars, (scalar) => {
        const octets = serialize(multiply(scalar, GENERATOR));
        expect(serialize(deserialize(octets))).toEqual(octets);
      }),
      { numRuns: 20 },
    );
  });

  const noAbscissa = [1n, 2n, 3n, 4n, 5n, 6n].find((x) => squareRoot(curveAt(x)) === undefined);

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['the identity', Buffer.of(0)],
    ['the identity, padded', Buffer.alloc(49)],
    ['a point without compression', createECDH('secp384r1').generateKeys()],
    ['one octet too few', serialize(GENERATOR).subarray(0, -1)],
    ['one octet too many', Buffer.concat([serialize(GENERATOR), Buffer.of(0)])],
    ['an abscissa that is not reduced', Buffer.concat([Buffer.of(2), toOctets(P, 48)])],
    ['no point', Buffer.concat([Buffer.of(2), toOctets(noAbscissa ?? P, 48)])],
    ['another sign', Buffer.concat([Buffer.of(4), serialize(GENERATOR).subarray(1)])],
  ])('%s is not a point (SEC 1 section 2.3.4)', (_what, octets) => {
    expect(() => deserialize(octets)).toThrow(RangeError);
  });
});

test.each([
  [
    '',
    'eb9fe1b4f4e14e7140803c1d99d0a93cd823d2b024040f9c067a8eca1f5a2eeac9ad604973527a356f3fa3aeff0e4d83',
    '0c21708cff382b7f4643c07b105c2eaec2cead93a917d825601e63c8f21f6abd9abc22c93c2bed6f235954b25048bb1a',
  ],
  [
    'abc',
    'e02fc1a5f44a7519419dd314e29863f30df55a514da2d655775a81d413003c4d4e7fd59af0826dfaad4200ac6f60abe1',
    '01f638d04d98677d65bef99aef1a12a70a4cbb9270ec55248c04530d8bc1f8f90f8a6a859a7c1f1ddccedf8f96d675f6',
  ],
])("hash_to_curve of %j gives the RFC's value (RFC 9380 section J.3.1)", (message, x, y) => {
  const domain = Buffer.from('QUUX-V01-CS02-with-P384_XMD:SHA-384_SSWU_RO_');
  const expected = { x: BigInt(`0x${x}`), y: BigInt(`0x${y}`), z: 1n };
  const point = hashToCurve(Buffer.from(message), domain);
  expect(serialize(point)).toEqual(serialize(expected));
});
