import type { JsonObject } from './compact-jws.ts';

/** The claims that a revocation check reads. */
export interface RevocableClaims {
  readonly jti: string;
  readonly kid: string;
  readonly sub: string;
  readonly client_id: string;
  readonly grant_id?: string;
  /** Absent in a token of an application on its own behalf. */
  readonly sub_gen?: number;
  readonly client_gen: number;
  /** Identifier of the store's memory at issue; a token of another epoch is refused. */
  readonly epoch: string;
}

/** Claims of a JWT access token (RFC 9068 section 2.2), and our own claims, by which it can be revoked. */
export interface AccessTokenClaims extends Omit<RevocableClaims, 'kid'> {
  readonly iss: string;
  readonly aud: string | readonly string[];
  readonly iat: number;
  readonly exp: number;
  readonly nbf?: number;
  /** Scopes of the resource only (RFC 9068 section 2.2.3: each scope must have a meaning at the resource). */
  readonly scope?: string;
  /** Scopes of OpenID Connect that were requested with this token; only the authorization server reads them. */
  readonly openid_scope?: string;
  /** How and when the person signed in (RFC 9068 section 2.2.1); absent in a token of an application. */
  readonly acr?: string;
  /** The authentication methods of the sign-in (RFC 8176 section 2). */
  readonly amr?: readonly string[];
  /** NumericDate. */
  readonly auth_time?: number;
  /** The key that the token is bound to (RFC 7800 section 3); absent if it is bound to none. */
  readonly cnf?: KeyBinding;
  /** The granted access of a GNAP token (RFC 9635 section 8). */
  readonly access?: readonly unknown[];
}

/**
 * The binding of a token. OAuth binds to a thumbprint (RFC 9449 section 6.1). GNAP binds to a key with its proof
 * method (RFC 9635 section 7.1), or to a certificate (RFC 8705 section 3.1).
 */
export type KeyBinding =
  | { readonly jkt: string }
  | { readonly jwk: JsonObject; readonly proof?: unknown }
  | { readonly 'x5t#S256': string };
