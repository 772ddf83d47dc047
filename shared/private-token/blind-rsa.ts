import {
  constants,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
} from 'node:crypto';
import { promisify } from 'node:util';
import { der, SEQUENCE } from '#shared/base/der.ts';
import { verifyPss } from '#shared/base/rsa-pss.ts';
import { type TokenKeyPair, tokenKeyId } from './token-key.ts';
import { BLIND_RSA } from './token-types.ts';

/**
 * Blind RSA (RFC 9474, variant RSABSSA-SHA384-PSS-Deterministic) for the issuer and the origin, as RFC 9578 section 6
 * uses it. Keys have Node's type `rsa`, which performs the raw operations; only their published encoding says
 * RSASSA-PSS.
 */

const BITS = 2048;
/** Octets of the salt (RFC 9474 section 5). */
export const SALT = 48;
/** The bounds of an exponent, which must be odd (FIPS 186-5 appendix A.1.1). */
const EXPONENTS = { above: 2n ** 16n, below: 2n ** 256n };

/**
 * The AlgorithmIdentifier of RFC 9578 section 6.5: id-RSASSA-PSS with SHA-384, MGF1 with SHA-384 and a salt of 48
 * octets, hashes without parameters.
 */
const ALGORITHM = Buffer.from(
  '303d06092a864886f70d01010a3030' +
    'a00d300b0609608648016503040202' +
    'a11a301806092a864886f70d010108300b0609608648016503040202' +
    'a203020130',
  'hex',
);
const BIT_STRING = 0x03;
/** The octets before the RSAPublicKey: two headers of four octets and the count of unused bits. */
const PREFIX = 4 + ALGORITHM.length + 4 + 1;
/**
 * The octets before the RSAPublicKey with the AlgorithmIdentifier rsaEncryption (RFC 3279 section 2.3.1), as Node
 * writes it.
 */
const PLAIN_PREFIX = 4 + 15 + 4 + 1;

/** Returns the SPKI of a public key of type `rsa` as RFC 9578 section 6.5 writes it. */
export function encodeSpki(key: KeyObject): Buffer {
  const rsaPublicKey = key.export({ format: 'der', type: 'spki' }).subarray(PLAIN_PREFIX);
  return der(SEQUENCE, ALGORITHM, der(BIT_STRING, Buffer.of(0), rsaPublicKey));
}

/**
 * Reads a key. Returns undefined unless the octets are exactly the SPKI of a 2048-bit key with the algorithm of RFC
 * 9578 section 6.5.
 */
export function blindRsaPublicKey(spki: Uint8Array): KeyObject | undefined {
  const key = importRsaPublicKey(Buffer.from(spki.subarray(PREFIX)));
  if (key === undefined || !isUsable(key)) return undefined;
  return encodeSpki(key).equals(spki) ? key : undefined;
}

function importRsaPublicKey(rsaPublicKey: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: rsaPublicKey, format: 'der', type: 'pkcs1' });
  } catch {
    return undefined;
  }
}

function isUsable(key: KeyObject): boolean {
  const { modulusLength, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  const odd = publicExponent % 2n === 1n && (rsaModulus(key).at(-1) ?? 0) % 2 === 1;
  const { above, below } = EXPONENTS;
  return modulusLength === BITS && odd && above < publicExponent && publicExponent < below;
}

/** Returns the modulus n of a public key. */
export function rsaModulus(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).n ?? '', 'base64url');
}

/** Makes a key pair that is used only for tokens (RFC 9578 section 6.5). */
export async function generateBlindRsaKey(): Promise<TokenKeyPair> {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: BITS });
  const publicKey = encodeSpki(pair.publicKey);
  const privateKey = pair.privateKey.export({ format: 'der', type: 'pkcs8' });
  return { type: BLIND_RSA, publicKey, privateKey, id: tokenKeyId(publicKey) };
}

/**
 * Computes BlindSign (RFC 9474 section 4.3) with a private key of type `rsa`. Returns undefined if the message does
 * not have the length of the modulus or is not below it. Throws Error if the signature does not verify: a faulty
 * result would reveal the key.
 */
export function blindSign(privateKey: KeyObject, blinded: Uint8Array): Buffer | undefined {
  const publicKey = createPublicKey(privateKey);
  const modulus = rsaModulus(publicKey);
  if (blinded.length !== modulus.length || modulus.compare(blinded) <= 0) return undefined;
  const signature = privateDecrypt(bare(privateKey), blinded);
  if (!rawPublic(publicKey, signature).equals(blinded)) throw new Error('blind signing failed');
  return signature;
}

/**
 * Computes RSAVP1 (RFC 8017 section 5.2.2) for a message with the length of the modulus. Throws Error for a message
 * of n or more.
 */
export function rawPublic(publicKey: KeyObject, message: Uint8Array): Buffer {
  return publicEncrypt(bare(publicKey), message);
}

const bare = (key: KeyObject) => ({ key, padding: constants.RSA_NO_PADDING });

/** Computes RSASSA-PSS-VERIFY (RFC 9578 section 6.4) of `input` with a key of `blindRsaPublicKey`. */
export function verifyBlindRsa(
  key: KeyObject,
  input: Uint8Array,
  authenticator: Uint8Array,
): boolean {
  return verifyPss({ key, hash: 'sha384', saltLength: SALT }, input, authenticator);
}
