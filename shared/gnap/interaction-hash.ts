import { hash } from 'node:crypto';

/** The names of the registry of named information hashes, and those of `node:crypto` (RFC 6920 section 9.4). */
const HASHES = {
  'sha-256': 'sha256',
  'sha-384': 'sha384',
  'sha-512': 'sha512',
  'sha3-256': 'sha3-256',
  'sha3-384': 'sha3-384',
  'sha3-512': 'sha3-512',
} as const;

export type HashMethod = keyof typeof HASHES;

export const HASH_METHODS = Object.keys(HASHES) as readonly HashMethod[];

/** The four values that together only the client, the server and the browser know. */
export interface Interaction {
  /** The nonce of the client, from `finish` of its request. */
  readonly clientNonce: string;
  /** The nonce of the server, from `finish` of its answer. */
  readonly serverNonce: string;
  readonly interactRef: string;
  /** The URI that received the client's request. */
  readonly grantEndpoint: string;
}

/**
 * Returns the hash by which a client checks that a finished interaction is the one that it began at this server (RFC
 * 9635 section 4.2.3).
 */
export function interactionHash(interaction: Interaction, method: HashMethod = 'sha-256'): string {
  const { clientNonce, serverNonce, interactRef, grantEndpoint } = interaction;
  const base = [clientNonce, serverNonce, interactRef, grantEndpoint].join('\n');
  return hash(HASHES[method], base, 'base64url');
}
