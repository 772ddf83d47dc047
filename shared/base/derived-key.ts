import { hkdfSync } from 'node:crypto';

/** All purposes of derived keys. A purpose must never change: all data under its key would be lost. */
export type Purpose =
  /** Derives the master secret from the operator's input. */
  | 'countersign master secret'
  /**
   * Private keys and secrets of people in the store, and unfinished sign-ins in browsers, by the name of their kind.
   */
  | `countersign seal ${string}`
  /** The chain of the audit log. */
  | 'countersign audit chain'
  /** Cookies of the engine. */
  | 'countersign authz cookies'
  /** Forms of the pages, against cross-site request forgery. */
  | 'countersign authz csrf'
  | 'countersign authz form token'
  /** Forms that a browser sends repeatedly. */
  | 'countersign authz repeated form'
  | 'countersign authz form sent again'
  | 'countersign authz done note'
  /** Cookies of browsers in which a person has signed in. */
  | 'countersign authz known browser'
  /** `nonce` and PKCE verifier of a sign-in by another provider. */
  | 'countersign authz trip'
  /** Challenges of passkeys, each for its person. */
  | 'countersign authz passkey'
  /** Recovery codes of people, as the store keeps them. */
  | 'countersign second factor recovery'
  /** Nonces for DPoP proofs, at the token endpoint and at resources. */
  | 'countersign authz dpop nonce'
  | 'dpop-nonce'
  /** The refresh token that follows a refresh token or a code. */
  | 'countersign authz refresh token successor'
  /** The identifier that replaces a browser session's earlier identifier. */
  | 'countersign authz session successor'
  /** Tokens by which clients of GNAP manage their access tokens. */
  | 'countersign authz gnap management'
  /** Names in the store's limits for people who get PrivateTokens. */
  | 'countersign authz private-token quota'
  /** The secret of the client as which a resource server verifies PrivateTokens. */
  | 'countersign private-token resource-server'
  /** The secret of the client through which people sign in to a space, by the space's URL. */
  | `countersign sign-in client ${string}`
  /** Contexts of PrivateToken's challenges, which change with the time window. */
  | 'private-token-window'
  /** Names in the store's limits for addresses that redeem tokens. */
  | 'private-token-address'
  /** The master secret of the playground's schemes. */
  | 'countersign playground'
  /** The API key of the playground. */
  | 'countersign playground api key'
  /** The key of the client as which the playground sends requests to the authorization server. */
  | 'countersign playground client'
  /** Nonces of Digest. */
  | 'digest-nonce'
  /** Challenges of HOBA. */
  | 'hoba-challenge'
  /** Substitutes for missing verifiers of Mutual. */
  | 'mutual'
  /** Nonces of SCRAM, and salts for people who do not exist. */
  | 'scram';

/**
 * Derives 32 bytes from a secret for one purpose (HKDF-SHA-256, RFC 5869). The key of one purpose reveals nothing
 * about the key of another.
 */
export function derivedKey(secret: Buffer, purpose: Purpose): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}
