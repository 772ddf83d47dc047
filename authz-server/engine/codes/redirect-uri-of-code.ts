import { errors } from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';

/**
 * For the engine a code needs a `redirect_uri` at the token endpoint, and the same as in the authorization
 * request (RFC 6749 section 4.1.3). One that is bound by PKCE needs none (draft-ietf-oauth-v2-1 section 10.2): what is
 * missing is taken from the code.
 */
export async function redirectUriOfCode({ oidc }: KoaContextWithOIDC): Promise<void> {
  const { client, provider, params = {} } = oidc;
  if (params['grant_type'] !== 'authorization_code' || params['redirect_uri'] !== undefined) return;
  const code = await provider.AuthorizationCode.find(String(params['code']));
  if (code === undefined || code.clientId !== client?.clientId) return;
  if (code.codeChallenge === undefined) {
    throw new errors.InvalidRequest('redirect_uri is required: the code is not bound by PKCE');
  }
  params['redirect_uri'] = code.redirectUri;
}
