import { p384_oprf } from '@noble/curves/nist.js';
import { type Random, systemRandom } from '#shared/base/random.ts';
import { isElement } from './voprf-key.ts';

/**
 * The issuer's half of the verifiable oblivious pseudorandom function over P-384 with SHA-384 (RFC 9497
 * sections 3.3.2 and 4.4), as token type 0x0001 has it. Milliseconds of computing: servers call it on the
 * threads of voprf-threads.ts only.
 */

/** With `Evaluate` (RFC 9497 section 3.3.1), which the library has and its types leave out. */
const voprf = p384_oprf.voprf as typeof p384_oprf.voprf & {
  evaluate(secretKey: Uint8Array, input: Uint8Array): Uint8Array;
};

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
