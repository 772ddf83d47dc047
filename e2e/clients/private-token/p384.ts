import { inverse, mod, power, toInteger, toOctets } from './numbers.ts';

/** The curve y^2 = x^3 - 3x + b over the integers modulo p (FIPS 186-4 section D.1.2.4). */
export const P = 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n;
export const A = P - 3n;
export const B =
  0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn;
/** The number of points, which is a prime. */
export const ORDER =
  0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n;

export const COORDINATE_OCTETS = 48;
/** The length of a compressed point. */
export const POINT_OCTETS = 1 + COORDINATE_OCTETS;

/** A point in Jacobian coordinates: (x / z^2, y / z^3). z is 0 for the identity only. */
export interface Point {
  readonly x: bigint;
  readonly y: bigint;
  readonly z: bigint;
}

export const IDENTITY: Point = { x: 1n, y: 1n, z: 0n };
export const GENERATOR: Point = {
  x: 0xaa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7n,
  y: 0x3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5fn,
  z: 1n,
};

/** The right side of the equation of the curve. */
export function curveAt(x: bigint): bigint {
  return mod(x ** 3n + A * x + B, P);
}

/** The square root, given that p is 3 modulo 4; undefined if there is none. */
export function squareRoot(square: bigint): bigint | undefined {
  const root = power(square, (P + 1n) / 4n, P);
  return mod(root * root - square, P) === 0n ? root : undefined;
}

export function add(one: Point, other: Point): Point {
  if (one.z === 0n) return other;
  if (other.z === 0n) return one;
  const [zz1, zz2] = [mod(one.z ** 2n, P), mod(other.z ** 2n, P)];
  const [u1, u2] = [mod(one.x * zz2, P), mod(other.x * zz1, P)];
  const [s1, s2] = [mod(one.y * other.z * zz2, P), mod(other.y * one.z * zz1, P)];
  if (u1 === u2) return s1 === s2 ? double(one) : IDENTITY;
  const [h, r] = [u2 - u1, s2 - s1];
  const hh = mod(h * h, P);
  const hhh = mod(h * hh, P);
  const v = mod(u1 * hh, P);
  const x = mod(r * r - hhh - 2n * v, P);
  return { x, y: mod(r * (v - x) - s1 * hhh, P), z: mod(h * one.z * other.z, P) };
}

export function multiply(scalar: bigint, point: Point): Point {
  let sum = IDENTITY;
  let doubled = point;
  for (let left = scalar; left > 0n; left >>= 1n) {
    if (left & 1n) sum = add(sum, doubled);
    doubled = double(doubled);
  }
  return sum;
}

/** Writes a compressed point (SEC 1 section 2.3.3). The identity is never sent: it gives a RangeError. */
export function serialize({ x, y, z }: Point): Buffer {
  const reciprocal = inverse(z, P);
  const odd = mod(y * reciprocal ** 3n, P) & 1n;
  const abscissa = toOctets(mod(x * reciprocal ** 2n, P), COORDINATE_OCTETS);
  return Buffer.concat([toOctets(2n + odd, 1), abscissa]);
}

/** Reads a compressed point (SEC 1 section 2.3.4); throws for any other octets and for the identity. */
export function deserialize(octets: Uint8Array): Point {
  const [sign = 0] = octets;
  const x = toInteger(octets.subarray(1));
  const root = squareRoot(curveAt(x));
  const wellFormed = octets.length === POINT_OCTETS && (sign === 2 || sign === 3) && x < P;
  if (!wellFormed || root === undefined) throw new RangeError('not a point of P-384');
  return { x, y: (root & 1n) === BigInt(sign & 1) ? root : P - root, z: 1n };
}

function double({ x, y, z }: Point): Point {
  const [delta, gamma] = [mod(z * z, P), mod(y * y, P)];
  const beta = mod(x * gamma, P);
  const alpha = mod(3n * (x - delta) * (x + delta), P);
  const x3 = mod(alpha * alpha - 8n * beta, P);
  const y3 = mod(alpha * (4n * beta - x3) - 8n * gamma * gamma, P);
  return { x: x3, y: y3, z: mod(2n * y * z, P) };
}
