import { createECDH, ECDH } from 'node:crypto';
import { p384_oprf } from '@noble/curves/nist.js';
import { type Random, systemRandom } from '#shared/base/random.ts';
import { type TokenKeyPair, tokenKeyId } from './token-key.ts';
import { TOKEN_TYPES, VOPRF } from './token-types.ts';

/**
 * The issuer's half of the verifiable oblivious pseudorandom function over P-384 with SHA-384 (RFC 9497
 * sections 3.3.2 and 4.4), as token type 0x0001 has it. Milliseconds of computing: servers call
 * `deriveKeyPair`, `blindEvaluate` and `evaluate` on the threads of voprf-threads.ts only.
 */

const CURVE = 'secp384r1';

/** With `Evaluate` (RFC 9497 section 3.3.1), which the library has and its types leave out. */
const voprf = p384_oprf.voprf as typeof p384_oprf.voprf & {
  evaluate(secretKey: Uint8Array, input: Uint8Array): Uint8Array;
};

/** Octets of the seed that DeriveKeyPair takes (RFC 9497 section 3.2.1). */
export const SEED = 32;
const PRIVATE_KEY = 48;

/** The private key and the public key that belong to a seed (RFC 9578 section 5.5), 48 and 49 octets. */
export function deriveKeyPair(seed: Uint8Array): Buffer {
  const { secretKey, publicKey } = voprf.deriveKeyPair(seed, Buffer.from('PrivacyPass'));
  return Buffer.concat([secretKey, publicKey]);
}

/** The method that RFC 9578 section 5.5 recommends. */
export function generateVoprfKey(random: Random = systemRandom): TokenKeyPair {
  return voprfKeyPair(deriveKeyPair(random(SEED)));
}

/** Reads a key pair of `deriveKeyPair`. Throws if its halves do not belong together. */
export function voprfKeyPair(pair: Buffer): TokenKeyPair {
  const privateKey = pair.subarray(0, PRIVATE_KEY);
  const publicKey = pair.subarray(PRIVATE_KEY);
  const check = createECDH(CURVE);
  check.setPrivateKey(privateKey);
  if (!check.getPublicKey(null, 'compressed').equals(publicKey)) {
    throw new Error('the two halves of a new VOPRF key do not match');
  }
  return { type: VOPRF, publicKey, id: tokenKeyId(publicKey), privateKey };
}

/**
 * DeserializeElement (RFC 9497 sections 2.1 and 4.4) succeeds: 49 octets of a compressed point on the
 * curve. The identity has no such encoding, and every other point is of the group, whose cofactor is 1.
 */
export function isElement(bytes: Uint8Array): boolean {
  if (bytes.length !== TOKEN_TYPES[VOPRF].blinded) return false;
  try {
    ECDH.convertKey(bytes, CURVE);
    return true;
  } catch {
    return false;
  }
}

/** Every element but the identity is a public key. */
export const isVoprfPublicKey = isElement;

/**
 * A TokenResponse, the evaluated element and the proof (RFC 9578 section 5.2), in 145 octets. Undefined:
 * the client's element is none. Throws Error when the keys are none.
 *
 * Somebody who could foresee the randomness of a proof, or saw it used for two, would compute the private
 * key from them. The generator of Node's crypto is made for that, on every thread.
 */
export function blindEvaluate(
  privateKey: Uint8Array,
  publicKey: Uint8Array,
  blinded: Uint8Array,
  random: Random = systemRandom,
): Buffer | undefined {
  if (!isElement(blinded)) return undefined;
  const { evaluated, proof } = voprf.blindEvaluate(privateKey, publicKey, blinded, (length = 32) =>
    random(length),
  );
  return Buffer.concat([evaluated, proof]);
}

/**
 * The authenticator that a token with this input has (RFC 9578 section 5.4), 48 octets to be compared in
 * constant time. Throws Error when the private key is none.
 */
export function evaluate(privateKey: Uint8Array, input: Uint8Array): Buffer {
  return Buffer.from(voprf.evaluate(privateKey, input));
}
