import { constants, createHash, createPublicKey, verify } from 'node:crypto';
import type { Blinded } from './blinded.ts';
import { inverse, mod, power, randomBelow, toInteger, toOctets } from './numbers.ts';
import type { Random } from './numbers.ts';

export interface RsaKey {
  readonly modulus: bigint;
  readonly exponent: bigint;
  /** The length of the modulus, and of each message and signature. */
  readonly octets: number;
}

const HASH = 'sha384';
const HASH_OCTETS = 48;

/** RFC 9578 section 6.5: id-RSASSA-PSS with SHA-384, MGF1 with SHA-384 and a salt of 48 octets. */
const SPKI_BEFORE_MODULUS = Buffer.from(
  '30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d01' +
    '0108300b0609608648016503040202a2030201300382010f003082010a0282010100',
  'hex',
);
const MODULUS_OCTETS = 256;
const SPKI_AFTER_MODULUS = Buffer.from('0203010001', 'hex');

/** Reads the key of a token of type 2; throws for any other encoding, modulus size or exponent. */
export function readSpki(spki: Uint8Array): RsaKey {
  const end = SPKI_BEFORE_MODULUS.length + MODULUS_OCTETS;
  const before = spki.subarray(0, SPKI_BEFORE_MODULUS.length);
  const modulus = spki.subarray(SPKI_BEFORE_MODULUS.length, end);
  const wellFormed =
    SPKI_BEFORE_MODULUS.equals(before) && SPKI_AFTER_MODULUS.equals(spki.subarray(end));
  const [first = 0, last = 0] = [modulus[0], modulus.at(-1)];
  if (!wellFormed || first < 0x80 || (last & 1) === 0) throw new Error('not a key of blind RSA');
  return { modulus: toInteger(modulus), exponent: 65_537n, octets: MODULUS_OCTETS };
}

/** RSABSSA-SHA384-PSS-Deterministic (RFC 9474 section 5); without a salt, the PSSZERO variant. */
export function blindRsa(
  key: RsaKey,
  input: Uint8Array,
  random: Random,
  saltOctets = HASH_OCTETS,
): Blinded {
  const { modulus, exponent, octets } = key;
  const bits = modulus.toString(2).length - 1;
  const message = toInteger(encodePss(input, random(saltOctets), bits));
  // RFC 9474 section 4.2: a message that shares a factor with the modulus would reveal the factor
  inverse(message, modulus);
  const factor = randomBelow(modulus, random);
  const unblind = inverse(factor, modulus);
  const blinded = mod(message * power(factor, exponent, modulus), modulus);
  return {
    request: toOctets(blinded, octets),
    finalize: (response) => {
      if (response.length !== octets) throw new RangeError('not a response');
      const signature = toOctets(mod(toInteger(response) * unblind, modulus), octets);
      if (!verifyRsa(key, input, signature, saltOctets)) {
        throw new Error('the issuer did not use the key that it publishes');
      }
      return signature;
    },
  };
}

/** RSASSA-PSS-VERIFY (RFC 8017 section 8.1.2). */
export function verifyRsa(
  { modulus, exponent, octets }: RsaKey,
  input: Uint8Array,
  signature: Uint8Array,
  saltOctets = HASH_OCTETS,
): boolean {
  const n = toOctets(modulus, octets).toString('base64url');
  const e = toOctets(exponent, 3).toString('base64url');
  const key = createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' });
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return verify(HASH, input, { key, padding, saltLength: saltOctets }, signature);
}

/** EMSA-PSS-ENCODE (RFC 8017 section 9.1.1). */
export function encodePss(message: Uint8Array, salt: Uint8Array, bits: number): Buffer {
  const octets = Math.ceil(bits / 8);
  const hash = hashOf(Buffer.alloc(8), hashOf(message), salt);
  const zeros = Buffer.alloc(octets - salt.length - hash.length - 2);
  const block = Buffer.concat([zeros, Buffer.from([1]), salt]);
  const masked = mask(block, hash);
  masked[0] = (masked[0] ?? 0) & (0xff >> (8 * octets - bits));
  return Buffer.concat([masked, hash, Buffer.from([0xbc])]);
}

/** XOR with MGF1 of the seed (RFC 8017 section B.2.1). */
function mask(block: Buffer, seed: Buffer): Buffer {
  const rounds = Math.ceil(block.length / HASH_OCTETS);
  const bits = Buffer.concat(
    Array.from({ length: rounds }, (_, counter) => hashOf(seed, toOctets(counter, 4))),
  );
  return Buffer.from(block.map((octet, at) => octet ^ (bits[at] ?? 0)));
}

function hashOf(...parts: readonly Uint8Array[]): Buffer {
  return createHash(HASH).update(Buffer.concat(parts)).digest();
}
