import { constants, type KeyObject, sign } from 'node:crypto';
import type { JwsAlgorithm } from '#shared/jose/algorithms.ts';

type Alg = JwsAlgorithm['alg'];

/**
 * The JWS algorithms that correspond to each name of the registry (RFC 9421 sections 3.3.1 to 3.3.6). `hmac-sha256`
 * is left out: a server that verifies with a shared secret could sign as its client.
 */
export const REGISTERED: ReadonlyMap<string, readonly Alg[]> = new Map([
  ['rsa-pss-sha512', ['PS512']],
  ['rsa-v1_5-sha256', ['RS256']],
  ['ecdsa-p256-sha256', ['ES256']],
  ['ecdsa-p384-sha384', ['ES384']],
  ['ed25519', ['EdDSA', 'Ed25519']],
]);

const HASH: Readonly<Record<Alg, string | null>> = {
  ES256: 'sha256',
  ES384: 'sha384',
  RS256: 'sha256',
  PS256: 'sha256',
  PS512: 'sha512',
  EdDSA: null,
  Ed25519: null,
};

/** Signs the octets with a private key that fits the algorithm. ECDSA gives R || S (section 3.3.4). */
export function signOctets(octets: Buffer, key: KeyObject, alg: Alg): Buffer {
  const pss = alg.startsWith('PS') && {
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  };
  return sign(HASH[alg], octets, { key, dsaEncoding: 'ieee-p1363', ...pss });
}
