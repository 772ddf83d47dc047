/** The media type of a Token (RFC 9577 section 2.2) that is the content of a message; no RFC registers one. */
export const TOKEN_MEDIA_TYPE = 'application/octet-stream';

/** The issuer's answer, in JSON, about a Token that only it can verify (RFC 9578 section 5.4). */
export interface Verification {
  readonly valid: boolean;
}
