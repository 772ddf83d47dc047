import { hash, type KeyObject, X509Certificate } from 'node:crypto';
import { importPublicJwk, type JwsAlgorithm, MESSAGE_ALGORITHMS } from '#shared/jose/algorithms.ts';
import { isObject, type JsonObject } from '#shared/jose/compact-jws.ts';
import { holdsPrivateKey } from '#shared/jose/private-members.ts';
import { thumbprint } from '#shared/jose/thumbprint.ts';
import { REGISTERED } from '#shared/signatures/algorithms.ts';
import type { DigestAlgorithm } from './content-digest.ts';
import { Refused, said } from '#shared/refusals/operations.ts';

/**
 * A client's public key, with the method by which the client proves that it has the private key (RFC 9635 section
 * 7.1).
 */
export type GnapKey = SignatureKey | CertificateKey;

/** A key that signs messages (section 7.3.1). */
export interface SignatureKey {
  readonly proof: 'httpsig';
  readonly algorithm: JwsAlgorithm;
  readonly key: KeyObject;
  /**
   * The `kid` of the JWK, which is `keyid` in signatures. It does not identify a client: two clients may use the
   * same.
   */
  readonly kid: string;
  /** The algorithm that Content-Digest must have. */
  readonly digest: DigestAlgorithm;
  /** The thumbprint of RFC 7638, which identifies the client instance (RFC 9635 section 2.3). */
  readonly thumbprint: string;
}

/** A certificate that the client uses in TLS (section 7.3.2). */
export interface CertificateKey {
  readonly proof: 'mtls';
  /** The thumbprint of RFC 8705 section 3.1. */
  readonly thumbprint: string;
}

/** Returns the identifier of the client with a key, since the key identifies the client (section 2.3). */
export const clientIdOf = ({ thumbprint: own }: Pick<GnapKey, 'thumbprint'>): string =>
  `gnap-${own}`;

/** Thrown for a key that is not accepted; the words tell the client why. */
export class BadKey extends Refused {
  override readonly name = 'BadKey';
}

/** The formats of section 7.1. A key has exactly one of them. */
const FORMATS = ['jwk', 'cert', 'cert#S256'];
const LONGEST_KID = 256;

/** Reads a key that a client sends by value. Throws `BadKey` for private and symmetric keys, and for other methods. */
export function readKey(value: unknown): GnapKey {
  if (!isObject(value)) throw new BadKey(said('key-object'));
  const [format, another] = FORMATS.filter((name) => name in value);
  if (format === undefined || another !== undefined) {
    throw new BadKey(
      said(another ? 'key-formats' : 'key-no-format', { names: FORMATS.join(', ') }),
    );
  }
  const { proof } = value;
  const isMtls = proof === 'mtls' || (isObject(proof) && proof['method'] === 'mtls');
  return isMtls ? certificateKey(value) : signatureKey(value);
}

const THUMBPRINT = /^[\w-]{43}$/;

function certificateKey({ cert, 'cert#S256': given }: JsonObject): CertificateKey {
  const own = typeof cert === 'string' ? thumbprintOf(cert) : given;
  if (typeof own !== 'string' || !THUMBPRINT.test(own)) {
    throw new BadKey(said('key-certificate'));
  }
  return { proof: 'mtls', thumbprint: own };
}

/** Returns the thumbprint of a certificate in PEM, with or without its header and footer (RFC 7468). */
function thumbprintOf(cert: string): string {
  const base64 = cert.replaceAll(/-----(?:BEGIN|END) CERTIFICATE-----|\s/g, '');
  try {
    const { raw } = new X509Certificate(Buffer.from(base64, 'base64'));
    return hash('sha256', raw, 'base64url');
  } catch {
    throw new BadKey(said('key-pem'));
  }
}

function signatureKey({ jwk, proof }: JsonObject): SignatureKey {
  if (!isObject(jwk)) throw new BadKey(said('key-no-jwk'));
  if (holdsPrivateKey(jwk)) throw new BadKey(said('key-private'));
  const { alg, kid } = jwk;
  if (typeof kid !== 'string' || kid === '' || kid.length > LONGEST_KID) {
    throw new BadKey(said('key-kid', { most: LONGEST_KID }));
  }
  const algorithm = MESSAGE_ALGORITHMS.get(alg);
  if (algorithm === undefined) {
    throw new BadKey(said('key-alg', { names: [...MESSAGE_ALGORITHMS.keys()].join(', ') }));
  }
  const digest = digestOf(proof, algorithm);
  const key = importPublicJwk(jwk, algorithm);
  if (key === undefined) throw new BadKey(said('key-of-other-alg'));
  // The numbers of a JWK can be written in several ways, but mean the same client, so the key is exported again.
  const own = thumbprint({ ...key.export({ format: 'jwk' }) }, algorithm);
  return { proof: 'httpsig', algorithm, key, kid, digest, thumbprint: own };
}

/** Section 7.3.1: the string form means the key's own algorithm and sha-256; the object form names both. */
function digestOf(proof: unknown, algorithm: JwsAlgorithm): DigestAlgorithm {
  if (proof === 'httpsig') return 'sha-256';
  if (!isObject(proof) || proof['method'] !== 'httpsig') {
    throw new BadKey(said('key-proof'));
  }
  const { alg } = proof;
  // An object may have a member toString, so only a string becomes text.
  if (typeof alg !== 'string' || !REGISTERED.get(alg)?.includes(algorithm.alg)) {
    throw new BadKey(said('key-proof-alg', { alg: algorithm.alg }));
  }
  const digest = proof['content-digest-alg'];
  if (digest !== 'sha-256' && digest !== 'sha-512') {
    throw new BadKey(said('key-digest'));
  }
  return digest;
}
