const READ = ['GET', 'HEAD'];
const FORM = ['POST'];

/** What the authorization server answers, and by which methods; everything else is 404. */
export const ENDPOINTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['/', READ],
  ['/.well-known/oauth-authorization-server', READ],
  ['/.well-known/openid-configuration', READ],
  ['/jwks', READ],
  ['/token', FORM],
  ['/token/introspection', FORM],
  ['/token/revocation', FORM],
]);
