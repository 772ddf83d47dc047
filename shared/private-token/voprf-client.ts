import { p384_oprf } from '@noble/curves/nist.js';
import type { Random } from '#shared/base/random.ts';
import type { Blinded } from './blinded.ts';
import { TOKEN_TYPES, VOPRF } from './token-types.ts';
import { isElement, isVoprfPublicKey } from './voprf-key.ts';

const { blinded: ELEMENT, response: RESPONSE } = TOKEN_TYPES[VOPRF];

/**
 * Computes the client's part of RFC 9578 sections 5.1 and 5.3. `input` is the token without its authenticator. Throws
 * TypeError if the public key is invalid.
 */
export function blindVoprf(publicKey: Buffer, input: Uint8Array, random: Random): Blinded {
  if (!isVoprfPublicKey(publicKey)) throw new TypeError('this is no public key of VOPRF');
  const { voprf } = p384_oprf;
  const { blind, blinded } = voprf.blind(input, (length = 32) => random(length));
  return {
    blinded: Buffer.from(blinded),
    finalize(response) {
      const element = response.subarray(0, ELEMENT);
      if (response.length !== RESPONSE || !isElement(element)) return undefined;
      const proof = response.subarray(ELEMENT);
      try {
        return Buffer.from(voprf.finalize(input, blind, element, blinded, publicKey, proof));
      } catch {
        return undefined; // the proof is wrong: everything else was checked before
      }
    },
  };
}
