/** `acr` of who signed in with a password (OpenID Connect Core 1.0 section 2). */
export const ACR = 'urn:countersign:acr:password';
/** `amr` of the same (RFC 8176 section 2). */
export const AMR = ['pwd'];
