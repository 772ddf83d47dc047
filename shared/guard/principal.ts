/** The person or application that sends the request, according to the token. */
export interface Principal {
  /**
   * `application`: acts on its own behalf, without a person. `anonymous`: a CORS preflight, which has no token.
   * Reading its `id`, `client`, `token` or `claims` throws a `TypeError`.
   */
  readonly kind: 'person' | 'application' | 'anonymous';
  /** The permanent id of the person or of the application, the same in every token. */
  readonly id: string;
  /** `client_id` of the application that sends the request. */
  readonly client: string;
  readonly scopes: ReadonlySet<string>;
  /** `jti` of the token. */
  readonly token: string;
  /** All claims of the token (RFC 9068 section 2.2). */
  readonly claims: Claims;
}

/**
 * Claims of an access token. It has claims about a person if the space lists their scope (`profile`, `email`,
 * `groups`) and the person allowed the scope.
 */
export interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string | readonly string[];
  /** Seconds since the epoch. */
  readonly iat: number;
  readonly exp: number;
  readonly name?: string;
  readonly preferred_username?: string;
  readonly picture?: string;
  readonly locale?: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly groups?: readonly string[];
  readonly [claim: string]: unknown;
}
