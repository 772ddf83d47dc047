import { createHash } from 'node:crypto';
import { inverse, mod, toInteger, toOctets } from './numbers.ts';
import { A, B, ORDER, P, add, curveAt, squareRoot } from './p384.ts';
import type { Point } from './p384.ts';

/** RFC 9380: the suite P384_XMD:SHA-384_SSWU_RO_ of section 8.3. */
const Z = P - 12n;
/** Octets for each element of a field, enough to hide the bias of the reduction (section 5.1). */
const L = 72;

const HASH_OCTETS = 48;
/** The octets of a block of SHA-384. */
const BLOCK_OCTETS = 128;

export function sha384(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha384');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Section 3: hash_to_curve, whose result nobody knows the logarithm of. */
export function hashToCurve(message: Uint8Array, domain: Uint8Array): Point {
  const uniform = expandMessage(message, domain, 2 * L);
  const [u0, u1] = [uniform.subarray(0, L), uniform.subarray(L)];
  return add(mapToCurve(mod(toInteger(u0), P)), mapToCurve(mod(toInteger(u1), P)));
}

/** Section 5.2: hash_to_field, with one element, modulo the order of the group. */
export function hashToScalar(message: Uint8Array, domain: Uint8Array): bigint {
  return mod(toInteger(expandMessage(message, domain, L)), ORDER);
}

/** Section 5.3.1: expand_message_xmd. */
export function expandMessage(message: Uint8Array, domain: Uint8Array, length: number): Buffer {
  const suffix = Buffer.concat([domain, toOctets(domain.length, 1)]);
  const padding = Buffer.alloc(BLOCK_OCTETS);
  const first = sha384(padding, message, toOctets(length, 2), toOctets(0, 1), suffix);
  const blocks: Buffer[] = [];
  let last = Buffer.alloc(HASH_OCTETS);
  for (let index = 1; blocks.length * HASH_OCTETS < length; index += 1) {
    const mixed = Buffer.from(first.map((octet, at) => octet ^ (last[at] ?? 0)));
    last = Buffer.from(sha384(mixed, toOctets(index, 1), suffix));
    blocks.push(last);
  }
  return Buffer.concat(blocks).subarray(0, length);
}

/** Section 6.6.2: the simplified method of Shallue, van de Woestijne and Ulas. */
function mapToCurve(u: bigint): Point {
  const zuu = mod(Z * u * u, P);
  const denominator = mod(zuu * zuu + zuu, P);
  const x1 =
    denominator === 0n
      ? mod(B * inverse(Z * A, P), P)
      : mod(-B * inverse(A, P) * (1n + inverse(denominator, P)), P);
  const x2 = mod(zuu * x1, P);
  const root = squareRoot(curveAt(x1));
  const [x, y] = root === undefined ? [x2, squareRoot(curveAt(x2))] : [x1, root];
  if (y === undefined) throw new Error('one of the two is on the curve');
  return { x, y: (u & 1n) === (y & 1n) ? y : mod(-y, P), z: 1n };
}
