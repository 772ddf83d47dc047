/** Media type of a Token (RFC 9577 section 2.2) as content of its own; no RFC registers one. */
export const TOKEN_MEDIA_TYPE = 'application/octet-stream';

/** The issuer's answer, in JSON, about a Token that only it can verify (RFC 9578 section 5.4). */
export interface Verification {
  readonly valid: boolean;
}
