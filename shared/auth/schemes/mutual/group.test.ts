/** @slow */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { MutualAlgorithmName } from './algorithms.ts';
import { CLIENT_GROUPS, type ClientGroup } from './client.fixture.ts';
import { curve, P_256, P_521 } from './curve.ts';
import { finiteField } from './finite-field.ts';
import type { Group } from './group.ts';
import { int, octets } from './octets.ts';

/** Wraps a group so that elements are OCTETS, whatever their type. */
function inOctets<Element>(group: Group<Element>): ClientGroup & {
  readonly generator: Buffer;
  decoded(bytes: Buffer): Buffer | undefined;
} {
  const { order, decode, encode, times, multiple, add } = group;
  const known = (bytes: Buffer): Element => {
    const element = decode(bytes);
    if (element === undefined) throw new Error('no element');
    return element;
  };
  const told = (element: Element | undefined) =>
    element === undefined ? Buffer.alloc(0) : encode(element);
  return {
    order,
    generator: told(multiple(1n)),
    decoded(bytes) {
      const element = decode(bytes);
      return element === undefined ? undefined : encode(element);
    },
    multiple: (scalar) => told(multiple(scalar)),
    multiply: (bytes, scalar) => told(times(scalar)?.(known(bytes))),
    add: (one, other) => told(add(known(one), known(other))),
  };
}

const GROUPS = {
  'iso-kam3-dl-2048-sha256': inOctets(finiteField('modp14')),
  'iso-kam3-dl-4096-sha512': inOctets(finiteField('modp16')),
  'iso-kam3-ec-p256-sha256': inOctets(curve(P_256)),
  'iso-kam3-ec-p521-sha512': inOctets(curve(P_521)),
};
const NOTHING = Buffer.alloc(0);

/** Written from RFC 8121 appendix A and FIPS 186-4; a test in Python checks them. */
const PARAMETERS = (
  JSON.parse(readFileSync('e2e/clients/mutual/mutual-vectors.json', 'utf8')) as {
    algorithms: { algorithm: MutualAlgorithmName; group: Record<string, string> }[];
  }
).algorithms;

describe.each(PARAMETERS)('$algorithm', ({ algorithm, group: parameters }) => {
  const group = GROUPS[algorithm];
  const other = CLIENT_GROUPS[algorithm];
  const number = (name: string) => BigInt(`0x${parameters[name]}`);
  /** The number of runs, lower for groups whose other library is slow. */
  const numRuns =
    { 'iso-kam3-dl-4096-sha512': 2, 'iso-kam3-dl-2048-sha256': 5 }[algorithm as string] ?? 20;
  const scalars = fc.bigInt(1n, number('r') - 2n);
  const small = fc.bigInt(1n, 2n ** 160n);

  test('RFC 8121 appendix A: the order and the generator have the values of the standard', () => {
    expect(group.order).toBe(number('r'));
    const length = group.generator.length;
    const y = parameters['G.y'] ?? '';
    const generator = y === '' ? 2n : 2n * number('G.x') + (BigInt(`0x${y}`) & 1n);
    expect(group.generator).toEqual(octets(generator, length));
  });

  test('multiples and sums equal the results of another library', () => {
    fc.assert(
      fc.property(small, small, scalars, (one, two, scalar) => {
        const [first, second] = [group.multiple(one), group.multiple(two)];
        expect(first).toEqual(other.multiple(one));
        expect(group.multiply(first, scalar)).toEqual(other.multiply(first, scalar));
        if (!first.equals(second))
          expect(group.add(first, second)).toEqual(other.add(first, second));
      }),
      { numRuns },
    );
  });

  test('multiples add up: (a + b)G = aG + bG, and encoded elements are decoded again', () => {
    fc.assert(
      fc.property(small, small, (one, two) => {
        fc.pre(one !== two);
        const sum = group.add(group.multiple(one), group.multiple(two));
        expect(group.multiple(one + two)).toEqual(sum);
        expect(group.decoded(sum)).toEqual(sum);
      }),
      { numRuns },
    );
  });

  test("multiples of the group's order are no elements", () => {
    for (const scalar of [0n, group.order, 3n * group.order]) {
      expect(group.multiple(scalar)).toEqual(NOTHING);
    }
  });

  test('random octets of any length give an element or undefined', () => {
    const { length } = group.generator;
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: length + 2 }), (bytes) => {
        const decoded = group.decoded(Buffer.from(bytes));
        expect(decoded === undefined || decoded.equals(bytes)).toBe(true);
        if (bytes.length !== length) expect(decoded).toBeUndefined();
      }),
    );
  });
});

describe('curves', () => {
  const group = GROUPS['iso-kam3-ec-p256-sha256'];
  const { q } = P_256;

  test('a point and its negative differ in the last bit, and cannot be added', () => {
    const point = group.multiple(7n);
    const negative = octets(int(point) ^ 1n, point.length);
    expect(group.decoded(negative)).toEqual(negative);
    expect(group.add(point, negative)).toEqual(NOTHING);
    expect(group.add(point, point)).toEqual(NOTHING);
  });

  test('an abscissa of at least q is refused', () => {
    // A point with x = 0 exists, and x = q would mean the same point.
    expect(group.decoded(octets(0n, 33))).toBeDefined();
    expect(group.decoded(octets(2n * q, 33))).toBeUndefined();
    expect(group.decoded(octets(2n * (q + 5n), 33))).toBeUndefined();
  });
});

describe('finite fields: the small subgroups (RFC 8121 section 3.2)', () => {
  const group = GROUPS['iso-kam3-dl-2048-sha256'];
  const q = 2n * group.order + 1n;

  test.each([
    ['0', 0n, false],
    ['1', 1n, false],
    ['2', 2n, true],
    ['q - 2', q - 2n, true],
    ['q - 1', q - 1n, false],
    ['q', q, false],
    ['q + 2', q + 2n, false],
  ])('the group accepts %s only if it is in no small subgroup', (_, value, valid) => {
    expect(group.decoded(octets(value, 256)) !== undefined).toBe(valid);
  });

  test('a product of 1 or q - 1 is refused', () => {
    const [two, half] = [octets(2n, 256), octets((q + 1n) / 2n, 256)];
    expect(group.add(two, half)).toEqual(NOTHING);
    expect(group.add(two, octets(q - (q + 1n) / 2n, 256))).toEqual(NOTHING);
  });
});
