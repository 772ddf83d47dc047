/** The `acr` of a person who signed in with a password (OpenID Connect Core 1.0 section 2). */
export const ACR = 'urn:countersign:acr:password';
/** The `amr` of a sign-in with a password (RFC 8176 section 2). */
export const AMR = ['pwd'];
