import type { KoaContextWithOIDC } from 'oidc-provider';
import { parseScope } from '#shared/jose/scope.ts';

/** The code, device code or refresh token behind a person's token (RFC 6749 sections 4.1 and 6, RFC 8628 section 3.4). */
export const sourceOf = ({ oidc }: KoaContextWithOIDC) =>
  oidc.authorizationCode ?? oidc.deviceCode ?? oidc.refreshToken;

/**
 * Returns the scopes of OpenID Connect in the answer to this token request: those that were requested and granted, and
 * that the client may still request.
 */
export function openidScope(ctx: KoaContextWithOIDC): string {
  const { client, grant, params, requestParamScopes } = ctx.oidc;
  const asked = params?.['scope'] === undefined ? sourceOf(ctx)?.scopes : requestParamScopes;
  const allowed = parseScope(String(client?.['allowed_scope']));
  return grant?.getOIDCScopeFiltered(allowed.intersection(asked ?? new Set())) ?? '';
}
