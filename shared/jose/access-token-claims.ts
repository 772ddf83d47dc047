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
  /** RFC 9449 section 6.1: the thumbprint of the key that the token is bound to. */
  readonly cnf?: { readonly jkt?: string };
}
