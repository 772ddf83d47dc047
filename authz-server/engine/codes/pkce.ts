import { errors } from 'oidc-provider';
import type { Client, KoaContextWithOIDC } from 'oidc-provider';

/**
 * The engine calls this for each authorization request without code_challenge (RFC 7636); a sent one always counts.
 * It may be missing only if a confidential client is registered so, and asks for `openid` with a `nonce`,
 * which ties the code to its session as well (RFC 9700 section 2.1.1). Otherwise throws `invalid_request` with the
 * names of the missing parameters.
 */
export function pkceRequired({ oidc }: KoaContextWithOIDC, client: Client): false {
  const parameters = 'code_challenge and code_challenge_method=S256';
  if (client['without_pkce'] !== true || client.clientAuthMethod === 'none') {
    throw new errors.InvalidRequest(`${parameters} are missing: PKCE is required (RFC 7636)`);
  }
  if (!oidc.requestParamScopes.has('openid') || oidc.params?.['nonce'] === undefined) {
    throw new errors.InvalidRequest(
      `without ${parameters} this client has to ask for openid with a nonce (RFC 9700 section 2.1.1)`,
    );
  }
  return false;
}
