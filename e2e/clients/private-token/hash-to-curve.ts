import { createHash } from 'node:crypto';
import { inverse, mod, toInteger, toOctets } from './numbers.ts';
import { A, B, ORDER, P, add, curveAt, squareRoot } from './p384.ts';
import type { Point } from './p384.ts';

/** The suite P384_XMD:SHA-384_SSWU_RO_ (RFC 9380 section 8.3). */
const Z = P - 12n;
/** Octets per field element, enough to hide the bias of the reduction (section 5.1). */
const L = 72;

const HASH_OCTETS = 48;
/** The block length of SHA-384 in octets. */
const BLOCK_OCTETS = 128;

export function sha384(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha384');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** hash_to_curve (section 3). The result's logarithm is unknown to everybody. */
export function hashToCurve(message: Uint8Array, domain: Uint8Array): Point {
  const uniform = expandMessage(message, domain, 2 * L);
  const [u0, u1] = [uniform.subarray(0, L), uniform.subarray(L)];
  return add(mapToCurve(mod(toInteger(u0), P)), mapToCurve(mod(toInteger(u1), P)));
}

/** hash_to_field with one element, modulo the order of the group (section 5.2). */
export function hashToScalar(message: Uint8Array, domain: Uint8Array): bigint {
  return mod(toInteger(expandMessage(message, domain, L)), ORDER);
}

/** expand_message_xmd (section 5.3.1). */
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

/** The simplified method of Shallue, van de Woestijne and Ulas (section 6.6.2). */
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
