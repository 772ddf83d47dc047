import { createHash, type KeyObject } from 'node:crypto';
import type { Random } from '#shared/base/random.ts';
import { blindRsaPublicKey, rawPublic, rsaModulus, SALT, verifyBlindRsa } from './blind-rsa.ts';
import type { Blinded } from './blinded.ts';

const toInteger = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);

const toBytes = (integer: bigint, length: number) =>
  Buffer.from(integer.toString(16).padStart(2 * length, '0'), 'hex');

/** Computes `inverse_mod` (RFC 9474 section 3) for 0 < a < n; undefined if they are not coprime. */
function inverse(a: bigint, n: bigint): bigint | undefined {
  let [remainder, next] = [n, a];
  let [coefficient, following] = [0n, 1n];
  while (next !== 0n) {
    const quotient = remainder / next;
    [remainder, next] = [next, remainder - quotient * next];
    [coefficient, following] = [following, coefficient - quotient * following];
  }
  if (remainder !== 1n) return undefined;
  return coefficient < 0n ? coefficient + n : coefficient;
}

/** Returns r, uniform among the numbers of [1, n) that have an inverse, with its inverse. */
function blindingFactor(n: bigint, length: number, random: Random) {
  for (;;) {
    const factor = random(length);
    const r = toInteger(factor);
    const inv = r > 0n && r < n ? inverse(r, n) : undefined;
    if (inv !== undefined) return { factor, inv };
  }
}

/**
 * Computes Blind and Finalize (RFC 9474 sections 4.2 and 4.4) for the client. `publicKey` is the SPKI of RFC 9578
 * section 6.5. Throws TypeError if it is no such key, or if its modulus shares a factor with the message. The time of
 * the arithmetic depends on the blind. Only the client's own machine can measure that time well enough.
 */
export function blindRsa(publicKey: Buffer, input: Uint8Array, random: Random): Blinded {
  const key = blindRsaPublicKey(publicKey);
  if (key === undefined) throw new TypeError('not a public key for blind RSA');
  return blindWith(key, input, random);
}

/** Computes Blind and Finalize with a key of any size. */
export function blindWith(key: KeyObject, input: Uint8Array, random: Random): Blinded {
  const modulus = rsaModulus(key);
  const { length } = modulus;
  const n = toInteger(modulus);
  const message = toInteger(emsaPssEncode(input, random(SALT), length));
  if (inverse(message, n) === undefined) throw new TypeError('not a modulus for blind RSA');
  const { factor, inv } = blindingFactor(n, length, random);
  return {
    blinded: toBytes((message * toInteger(rawPublic(key, factor))) % n, length),
    finalize(response) {
      if (response.length !== length || modulus.compare(response) <= 0) return undefined;
      const signature = toBytes((toInteger(response) * inv) % n, length);
      return verifyBlindRsa(key, input, signature) ? signature : undefined;
    },
  };
}

const HASH = 48;

const sha384 = (...parts: readonly Uint8Array[]) =>
  createHash('sha384').update(Buffer.concat(parts)).digest();

/** Computes MGF1 with SHA-384 (RFC 8017 appendix B.2.1). */
function mgf1(seed: Uint8Array, length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / HASH) }, (_, index) => {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(index);
    return sha384(seed, counter);
  });
  return Buffer.concat(blocks, length);
}

/**
 * Computes EMSA-PSS-ENCODE with SHA-384 and MGF1 with SHA-384 (RFC 8017 section 9.1.1), for a modulus of whole
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
