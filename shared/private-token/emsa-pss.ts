import { createHash } from 'node:crypto';

const HASH = 48;

const sha384 = (...parts: readonly Uint8Array[]) =>
  createHash('sha384').update(Buffer.concat(parts)).digest();

/** MGF1 with SHA-384 (RFC 8017 appendix B.2.1). */
function mgf1(seed: Uint8Array, length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / HASH) }, (_, index) => {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(index);
    return sha384(seed, counter);
  });
  return Buffer.concat(blocks, length);
}

/**
 * EMSA-PSS-ENCODE with SHA-384 and MGF1 with SHA-384 (RFC 8017 section 9.1.1), for a modulus of whole
 * octets: the encoded message has one bit less than the modulus.
 */
export function emsaPssEncode(
  message: Uint8Array,
  salt: Uint8Array,
  modulusOctets: number,
): Buffer {
  const hash = sha384(Buffer.alloc(8), sha384(message), salt);
  const block = Buffer.alloc(modulusOctets - HASH - 1);
  block[block.length - salt.length - 1] = 0x01;
  block.set(salt, block.length - salt.length);
  const masked = mgf1(hash, block.length).map((octet, index) => octet ^ (block[index] ?? 0));
  masked[0] = (masked[0] ?? 0) & 0x7f;
  return Buffer.concat([masked, hash, Buffer.of(0xbc)]);
}
