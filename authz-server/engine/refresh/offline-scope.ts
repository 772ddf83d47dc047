import type { KoaContextWithOIDC } from 'oidc-provider';

/**
 * Ignores `offline_access` in a refresh of a token that was issued without it. A sign-in without `prompt=consent` drops
 * it (OpenID Connect Core 1.0 section 11), and clients repeat at each refresh what they asked for. It names no access,
 * and the answer says which scopes there are (RFC 6749 sections 3.3 and 6).
 */
export async function offlineScopeOfRefresh({ oidc }: KoaContextWithOIDC): Promise<void> {
  const { provider, params = {}, requestParamScopes: asked } = oidc;
  if (params['grant_type'] !== 'refresh_token') return;
  if (!asked.delete('offline_access') || asked.size === 0) return;
  const token = await provider.RefreshToken.find(String(params['refresh_token']));
  if (token?.scopes.has('offline_access') === false) params['scope'] = [...asked].join(' ');
}
