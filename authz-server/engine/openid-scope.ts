import type { KoaContextWithOIDC } from 'oidc-provider';

/** What a token of a person comes of (RFC 6749 section 4.1, RFC 8628 section 3.4, RFC 6749 section 6). */
export const sourceOf = ({ oidc }: KoaContextWithOIDC) =>
  oidc.authorizationCode ?? oidc.deviceCode ?? oidc.refreshToken;

/** The scopes of OpenID Connect that this token request is answered with: asked for, and granted. */
export function openidScope(ctx: KoaContextWithOIDC): string {
  const { grant, params, requestParamScopes } = ctx.oidc;
  const asked = params?.['scope'] === undefined ? sourceOf(ctx)?.scopes : requestParamScopes;
  return grant?.getOIDCScopeFiltered(asked ?? new Set()) ?? '';
}
