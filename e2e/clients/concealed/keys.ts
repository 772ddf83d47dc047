/** Keys of the scheme and their signatures (RFC 9729 sections 3.1.1 and 4.4). */
import { constants, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

export interface Algorithm {
  /** The number among TLS's SignatureSchemes (RFC 8446 section 4.2.3). */
  readonly code: number;
  readonly newKey: () => KeyObject;
  readonly encodePublicKey: (publicKey: KeyObject) => Buffer;
  readonly sign: (content: Buffer, privateKey: KeyObject) => Buffer;
}

const ED25519: Algorithm = {
  code: 0x0807,
  newKey: () => generateKeyPairSync('ed25519').privateKey,
  /** The public key is encoded as RFC 8032 section 5.1.5 says. */
  encodePublicKey: (key) => coordinate(key.export({ format: 'jwk' }).x),
  sign: (content, key) => sign(null, content, key),
};

/** A signature is an ECDSA-Sig-Value in DER, as in TLS. */
const ecdsa = (code: number, namedCurve: string, hash: string): Algorithm => ({
  code,
  newKey: () => generateKeyPairSync('ec', { namedCurve }).privateKey,
  /** The public key is an UncompressedPointRepresentation (RFC 8446 section 4.2.8.2). */
  encodePublicKey: (key) => {
    const { x, y } = key.export({ format: 'jwk' });
    return Buffer.concat([Buffer.of(4), coordinate(x), coordinate(y)]);
  },
  sign: (content, key) => sign(hash, content, { key, dsaEncoding: 'der' }),
});

/** The salt is as long as the hash, and the mask uses the same hash (RFC 8446 section 4.2.3). */
const rsaPss = (code: number, hash: string): Algorithm => ({
  code,
  newKey: () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  /** RSAPublicKey in DER (RFC 8017 appendix A.1.1), without the algorithm that SPKI would name. */
  encodePublicKey: (key) => key.export({ format: 'der', type: 'pkcs1' }),
  sign: (content, key) =>
    sign(hash, content, {
      key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    }),
});

export const ALGORITHMS = {
  ed25519: ED25519,
  ecdsa_secp256r1_sha256: ecdsa(0x0403, 'P-256', 'sha256'),
  ecdsa_secp384r1_sha384: ecdsa(0x0503, 'P-384', 'sha384'),
  rsa_pss_rsae_sha256: rsaPss(0x0804, 'sha256'),
  rsa_pss_rsae_sha384: rsaPss(0x0805, 'sha384'),
  rsa_pss_rsae_sha512: rsaPss(0x0806, 'sha512'),
} as const;

export type AlgorithmName = keyof typeof ALGORITHMS;

export interface ConcealedKey {
  readonly keyId: Buffer;
  readonly algorithm: AlgorithmName;
  readonly privateKey: KeyObject;
}

export function newKey(algorithm: AlgorithmName, keyId: string): ConcealedKey {
  const privateKey = ALGORITHMS[algorithm].newKey();
  return { keyId: Buffer.from(keyId), algorithm, privateKey };
}

/** Returns a key's public octets, as parameter `a` has them. */
export function publicOctets({ algorithm, privateKey }: ConcealedKey): Buffer {
  return ALGORITHMS[algorithm].encodePublicKey(createPublicKey(privateKey));
}

function coordinate(text: string | undefined): Buffer {
  return Buffer.from(text ?? '', 'base64url');
}
