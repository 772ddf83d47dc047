import { createECDH, ECDH } from 'node:crypto';
import { type Random, systemRandom } from '#shared/base/random.ts';
import { type TokenKeyPair, tokenKeyId } from './token-key.ts';
import { TOKEN_TYPES, VOPRF } from './token-types.ts';

/**
 * The keys and elements of voprf.ts, computed with Node's own curve in a millisecond: a server that has its keys
 * starts without the library for the other computations.
 */

const CURVE = 'secp384r1';
/** The order of the group (RFC 9497 section 4.4). */
const ORDER = BigInt(
  '0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973',
);
/** Octets of randomness for a scalar: half as many more than its own, so that the remainder is not biased. */
const SCALAR = 48;
const EXTRA = SCALAR / 2;

/** Makes a key pair (GenerateKeyPair, RFC 9497 section 3.2), with a scalar by extra random bits (section 4.7.2). */
export function generateVoprfKey(random: Random = systemRandom): TokenKeyPair {
  const drawn = BigInt(`0x${random(SCALAR + EXTRA).toString('hex')}`);
  const scalar = (drawn % (ORDER - 1n)) + 1n;
  const privateKey = Buffer.from(scalar.toString(16).padStart(2 * SCALAR, '0'), 'hex');
  const pair = createECDH(CURVE);
  pair.setPrivateKey(privateKey);
  const publicKey = pair.getPublicKey(null, 'compressed');
  return { type: VOPRF, publicKey, id: tokenKeyId(publicKey), privateKey };
}

/**
 * Returns whether DeserializeElement (RFC 9497 sections 2.1 and 4.4) succeeds: 49 octets of a compressed point on the
 * curve. The identity has no such encoding, and every other point is in the group, whose cofactor is 1.
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

/** A public key is any element except the identity. */
export const isVoprfPublicKey = isElement;
