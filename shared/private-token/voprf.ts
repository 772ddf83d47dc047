import { p384_oprf } from '@noble/curves/nist.js';
import { type Random, systemRandom } from '#shared/base/random.ts';
import { isElement } from './voprf-key.ts';

/**
 * The issuer's part of the verifiable oblivious pseudorandom function over P-384 with SHA-384 (RFC 9497 sections
 * 3.3.2 and 4.4), for token type 0x0001. It computes for milliseconds, so servers call it only on the threads of
 * voprf-threads.ts.
 */

/** The library's object with `Evaluate` (RFC 9497 section 3.3.1), which its published types omit. */
const voprf = p384_oprf.voprf as typeof p384_oprf.voprf & {
  evaluate(secretKey: Uint8Array, input: Uint8Array): Uint8Array;
};

/**
 * Returns a TokenResponse: the evaluated element and the proof (RFC 9578 section 5.2), in 145 octets. Returns
 * undefined if the client's element is invalid. Throws Error if the keys are invalid.
 *
 * An attacker who could predict the randomness of a proof, or saw it used for two proofs, could compute the private
 * key. Node's random generator is safe for this on every thread.
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
 * Returns the authenticator of a token with this input (RFC 9578 section 5.4): 48 octets that must be compared in
 * constant time. Throws Error if the private key is invalid.
 */
export function evaluate(privateKey: Uint8Array, input: Uint8Array): Buffer {
  return Buffer.from(voprf.evaluate(privateKey, input));
}
