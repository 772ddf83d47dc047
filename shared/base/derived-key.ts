import { hkdfSync } from 'node:crypto';

/** All purposes of derived keys. A purpose never changes: everything made under it would be lost. */
export type Purpose =
  /** The master secret, from the operator's input. */
  | 'countersign master secret'
  /** Private keys and secrets of people in the store, and unfinished sign-ins in browsers, by their name. */
  | `countersign seal ${string}`
  /** The chain of the audit log. */
  | 'countersign audit chain'
  /** Cookies of the engine. */
  | 'countersign authz cookies'
  /** Forms of the pages, against requests that other sites forge. */
  | 'countersign authz csrf'
  | 'countersign authz form token'
  /** Forms that a browser sends again. */
  | 'countersign authz repeated form'
  | 'countersign authz form sent again'
  | 'countersign authz done note'
  /** Browsers in which a person has signed in. */
  | 'countersign authz known browser'
  /** Challenges of passkeys, with their persons. */
  | 'countersign authz passkey'
  /** Recovery codes of people, as the store keeps them. */
  | 'countersign second factor recovery'
  /** Nonces for DPoP proofs, at the token endpoint and at resources. */
  | 'countersign authz dpop nonce'
  | 'dpop-nonce'
  /** The refresh token that follows another, or a code. */
  | 'countersign authz refresh token successor'
  /** The identifier that a browser session gets after another. */
  | 'countersign authz session successor'
  /** Tokens by which clients of GNAP manage their access tokens. */
  | 'countersign authz gnap management'
  /** Names the people who get PrivateTokens in the buckets of the store. */
  | 'countersign authz private-token quota'
  /** The secret of the client that a resource server verifies tokens for PrivateToken as. */
  | 'countersign private-token resource-server'
  /** The secret of the client as which people sign in to a space, by its URL. */
  | `countersign sign-in client ${string}`
  /** Contexts of PrivateToken's challenges, which change with the window. */
  | 'private-token-window'
  /** The names under which the store counts addresses from which tokens come. */
  | 'private-token-address'
  /** The master secret of the playground's schemes. */
  | 'countersign playground'
  /** Its API key. */
  | 'countersign playground api key'
  /** The key of the client as which it asks the authorization server. */
  | 'countersign playground client'
  /** Nonces of Digest. */
  | 'digest-nonce'
  /** Challenges of HOBA. */
  | 'hoba-challenge'
  /** Makes the stand-in for a missing verifier of Mutual. */
  | 'mutual'
  /** Nonces of SCRAM, and salts for people who do not exist. */
  | 'scram';

/**
 * 32 bytes of a secret for one purpose (HKDF-SHA-256, RFC 5869). The key of one purpose reveals nothing about the key
 * of another.
 */
export function derivedKey(secret: Buffer, purpose: Purpose): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}
