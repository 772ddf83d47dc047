import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { es256ToDer } from '#shared/base/der.ts';
import { verifyPss } from '#shared/base/rsa-pss.ts';

/**
 * A JWS algorithm (RFC 7518 section 3.1, RFC 8037 section 3.1). The row for a header is found once and passed on; its
 * name decides nothing afterwards.
 */
export interface JwsAlgorithm {
  readonly alg: 'ES256' | 'ES384' | 'RS256' | 'PS256' | 'PS512' | 'EdDSA' | 'Ed25519';
  readonly kty: 'EC' | 'RSA' | 'OKP';
  /** The public members of its JWK, in the order for the thumbprint (RFC 7638 section 3.2). */
  readonly members: readonly string[];
  /** True if the key is a public key of this algorithm's type, curve and size. */
  fits(key: KeyObject): boolean;
  /**
   * Verifies a signature; the key must fit. `key` is a KeyObject, since an options object costs up to 20 microseconds
   * in Node 24, where the guard runs.
   */
  verify(signingInput: Buffer, key: KeyObject, signature: Buffer): boolean;
}

const SMALLEST_RSA = 2048;
/** Largest RSA key in bits: the sender of a DPoP proof chooses the key, and a longer key would cost too much work. */
const LARGEST_RSA = 4096;
const LARGEST_EXPONENT = 2n ** 32n;

const ES256: JwsAlgorithm = {
  alg: 'ES256',
  kty: 'EC',
  members: ['crv', 'kty', 'x', 'y'],
  fits: (key) =>
    key.type === 'public' &&
    key.asymmetricKeyType === 'ec' &&
    key.asymmetricKeyDetails?.namedCurve === 'prime256v1',
  verify(signingInput, key, signature) {
    const der = es256ToDer(signature);
    return der !== undefined && verify('sha256', signingInput, key, der);
  },
};

const RS256: JwsAlgorithm = {
  alg: 'RS256',
  kty: 'RSA',
  members: ['e', 'kty', 'n'],
  fits(key) {
    if (key.type !== 'public' || key.asymmetricKeyType !== 'rsa') return false;
    const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
    return (
      modulusLength >= SMALLEST_RSA &&
      modulusLength <= LARGEST_RSA &&
      publicExponent > 1n &&
      publicExponent < LARGEST_EXPONENT
    );
  },
  verify: (signingInput, key, signature) => verify('sha256', signingInput, key, signature),
};

const EdDSA: JwsAlgorithm = {
  alg: 'EdDSA',
  kty: 'OKP',
  members: ['crv', 'kty', 'x'],
  fits: (key) => key.type === 'public' && key.asymmetricKeyType === 'ed25519',
  verify: (signingInput, key, signature) => verify(null, signingInput, key, signature),
};

/** The algorithm with a name that includes the curve (RFC 9864 section 2.2), which new clients send. */
const Ed25519: JwsAlgorithm = { ...EdDSA, alg: 'Ed25519' };

const ES384: JwsAlgorithm = {
  ...ES256,
  alg: 'ES384',
  fits: (key) =>
    key.type === 'public' &&
    key.asymmetricKeyType === 'ec' &&
    key.asymmetricKeyDetails?.namedCurve === 'secp384r1',
  verify: (signingInput, key, signature) =>
    verify('sha384', signingInput, { key, dsaEncoding: 'ieee-p1363' }, signature),
};

/** RSASSA-PSS with a salt as long as the hash (RFC 7518 section 3.5). */
const pss = (bits: 256 | 512): JwsAlgorithm => ({
  ...RS256,
  alg: `PS${bits}`,
  verify: (signingInput, key, signature) =>
    verifyPss({ key, hash: `sha${bits}`, saltLength: bits / 8 }, signingInput, signature),
});

/** The allow-list for tokens and for DPoP proofs, by the `alg` of a header. */
export const ALGORITHMS: ReadonlyMap<unknown, JwsAlgorithm> = new Map(
  [ES256, RS256, EdDSA, Ed25519].map((row) => [row.alg, row]),
);

/** The allow-list for assertions of clients (RFC 7523 section 2.2). */
export const ASSERTION_ALGORITHMS: ReadonlyMap<unknown, JwsAlgorithm> = new Map(
  [ES256, RS256, pss(256), EdDSA, Ed25519].map((row) => [row.alg, row]),
);

/** The allow-list for signatures of HTTP messages (RFC 9421 section 3.3.7), by the `alg` of a key. */
export const MESSAGE_ALGORITHMS: ReadonlyMap<unknown, JwsAlgorithm> = new Map<
  unknown,
  JwsAlgorithm
>([...ALGORITHMS, ...[ES384, pss(256), pss(512)].map((row) => [row.alg, row] as const)]);

/**
 * Imports the public key of a JWK (RFC 7517), using only the members that the algorithm needs. Returns undefined if
 * it is not a key for this algorithm.
 */
export function importPublicJwk(
  jwk: Readonly<Record<string, unknown>>,
  algorithm: JwsAlgorithm,
): KeyObject | undefined {
  if (jwk['kty'] !== algorithm.kty) return undefined;
  if ((jwk['alg'] ?? algorithm.alg) !== algorithm.alg || (jwk['use'] ?? 'sig') !== 'sig') {
    return undefined;
  }
  const operations = jwk['key_ops'] ?? ['verify'];
  if (!Array.isArray(operations) || !operations.includes('verify')) return undefined; // section 4.3
  const key: Record<string, string> = {};
  for (const member of algorithm.members) {
    const value = jwk[member];
    if (typeof value !== 'string') return undefined;
    key[member] = value;
  }
  try {
    const imported = createPublicKey({ key, format: 'jwk' });
    return algorithm.fits(imported) ? imported : undefined;
  } catch {
    return undefined;
  }
}
