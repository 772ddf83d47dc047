/**
 * Returns a text that a client can ask for as access (RFC 9635 section 8.1): the URL of the space, and the scopes in
 * it. A resource server gives it in its challenge (section 9.1).
 */
export const accessReference = (url: string, scopes: readonly string[]): string =>
  [url, ...scopes].join(' ');
