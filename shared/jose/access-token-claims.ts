import type { JsonObject } from './compact-jws.ts';

/** The claims that the revocation check reads. */
export interface RevocableClaims {
  readonly jti: string;
  readonly kid: string;
  readonly sub: string;
  readonly client_id: string;
  readonly grant_id?: string;
  /** Absent from a token of an application on its own behalf. */
  readonly sub_gen?: number;
  readonly client_gen: number;
  /** Identifier of the store's memory at issue; a token of another epoch is refused. */
  readonly epoch: string;
}

/** Claims of a JWT access token (RFC 9068 section 2.2) and ours, by which it can be revoked. */
export interface AccessTokenClaims extends Omit<RevocableClaims, 'kid'> {
  readonly iss: string;
  readonly aud: string | readonly string[];
  readonly iat: number;
  readonly exp: number;
  readonly nbf?: number;
  /** Scopes of the resource alone (RFC 9068 section 2.2.3: all have a meaning there). */
  readonly scope?: string;
  /** Scopes of OpenID Connect that this token was asked for; the authorization server itself reads them. */
  readonly openid_scope?: string;
  /** How the person signed in, and when (RFC 9068 section 2.2.1); absent from a token of an application. */
  readonly acr?: string;
  /** The methods (RFC 8176 section 2). */
  readonly amr?: readonly string[];
  /** NumericDate. */
  readonly auth_time?: number;
  /** The key that the token is bound to (RFC 7800 section 3). Absent: it is bound to none. */
  readonly cnf?: KeyBinding;
  /** The access of a token of GNAP, as it was granted (RFC 9635 section 8). */
  readonly access?: readonly unknown[];
}

/**
 * OAuth binds to a thumbprint (RFC 9449 section 6.1), GNAP to a key with its proof method (RFC 9635
 * section 7.1) or to a certificate (RFC 8705 section 3.1).
 */
export type KeyBinding =
  | { readonly jkt: string }
  | { readonly jwk: JsonObject; readonly proof?: unknown }
  | { readonly 'x5t#S256': string };
