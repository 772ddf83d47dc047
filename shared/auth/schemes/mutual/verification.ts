import { createHash } from 'node:crypto';
import { MUTUAL_ALGORITHMS, type MutualAlgorithmName } from './algorithms.ts';
import { vi, vs } from './octets.ts';

/** The values that both sides have after a key exchange, as OCTETS. */
export interface Exchanged {
  readonly clientValue: Buffer;
  readonly serverValue: Buffer;
  readonly z: Buffer;
}

/** The first octet of a verification value, which depends on the side that proves itself. */
const FIRST = { client: 4, server: 3 };

/** Returns OCTETS(VK_c) or OCTETS(VK_s) of a request (RFC 8120 section 12.2). */
export function verificationValue(
  side: keyof typeof FIRST,
  algorithm: MutualAlgorithmName,
  { clientValue, serverValue, z }: Exchanged,
  { nc, vh }: { readonly nc: bigint; readonly vh: Buffer },
): Buffer {
  return createHash(MUTUAL_ALGORITHMS[algorithm].hash)
    .update(Buffer.concat([Buffer.of(FIRST[side]), clientValue, serverValue, z, vi(nc), vs(vh)]))
    .digest();
}
