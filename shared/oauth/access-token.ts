import type { RevocableClaims } from '#shared/stores/revocations.ts';

/** Claims of a JWT access token (RFC 9068 section 2.2) and ours, by which it can be revoked. */
export interface AccessTokenClaims extends Omit<RevocableClaims, 'kid'> {
  readonly iss: string;
  readonly aud: string | readonly string[];
  readonly iat: number;
  readonly exp: number;
  readonly nbf?: number;
  readonly scope?: string;
  /** RFC 9449 section 6.1: the thumbprint of the key that the token is bound to. */
  readonly cnf?: { readonly jkt?: string };
}
