/** The person or application that asks, as the token says. */
export interface Principal {
  /**
   * `application`: in its own name, with no person behind the token. `anonymous`: a CORS preflight, which has no
   * token. Reading `id`, `client`, `token` or `claims` of it throws a `TypeError`.
   */
  readonly kind: 'person' | 'application' | 'anonymous';
  /** The same by every token and for ever: of the person, or of the application. */
  readonly id: string;
  /** `client_id` of the application that asks. */
  readonly client: string;
  readonly scopes: ReadonlySet<string>;
  /** `jti` of the token. */
  readonly token: string;
  /** Everything that the token says (RFC 9068 section 2.2). */
  readonly claims: Claims;
}

/**
 * Claims of an access token. It has those of a person where the space lists their scope (`profile`, `email`, `groups`)
 * and the person allowed it.
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
