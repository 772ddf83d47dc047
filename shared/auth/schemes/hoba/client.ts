import { type KeyObject, sign } from 'node:crypto';
import { toBeSigned } from './to-be-signed.ts';

/** The parts of a result that the client chooses or received (RFC 7486 section 2). */
export interface HobaProof {
  /** The id of the key. */
  readonly kid: string;
  readonly challenge: string;
  /** Base64url. */
  readonly nonce: string;
  /** The origin to which the client sends its request. */
  readonly origin: string;
}

/** Returns the credentials of a client that supports HOBA with a private RSA key (RFC 7486 sections 2 and 3). */
export function hobaCredentials(key: KeyObject, proof: HobaProof): string {
  const { kid, challenge, nonce } = proof;
  const signature = sign('sha256', toBeSigned(proof), key).toString('base64url');
  return `HOBA result="${[kid, challenge, nonce, signature].join('.')}"`;
}
