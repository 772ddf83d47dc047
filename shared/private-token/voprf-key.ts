import { createECDH, ECDH } from 'node:crypto';
import { type Random, systemRandom } from '#shared/base/random.ts';
import { type TokenKeyPair, tokenKeyId } from './token-key.ts';
import { TOKEN_TYPES, VOPRF } from './token-types.ts';

/**
 * The keys and the elements of voprf.ts by Node's own curve, in a millisecond: a server that has its keys
 * starts without the library that computes with them.
 */

const CURVE = 'secp384r1';
/** The order of the group (RFC 9497 section 4.4). */
const ORDER = BigInt(
  '0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973',
);
/** Octets of a scalar, and the half as many more that keep the remainder from being biased. */
const SCALAR = 48;
const EXTRA = SCALAR / 2;

/** GenerateKeyPair (RFC 9497 section 3.2), with a scalar by extra random bits (section 4.7.2). */
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
