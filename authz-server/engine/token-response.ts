import type { KoaContextWithOIDC } from 'oidc-provider';
import { epochSeconds } from '#shared/base/clock.ts';
import { refreshLifetime } from './lifetimes.ts';
import { openidScope, sourceOf } from './openid-scope.ts';
import type { AuthzServer } from '../server.ts';

type Next = () => Promise<unknown>;

interface TokenResponse {
  scope?: string;
  refresh_token?: string;
}

/**
 * Completes what the engine answers to a client of a person (RFC 6749 section 5.1): all scopes that were
 * granted, those of OpenID Connect included, and the refresh token as it was stored. A refresh token that
 * is not replaced is prolonged by its use instead.
 */
export function tokenResponse(server: AuthzServer) {
  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    await next();
    const { grant, refreshToken, route } = ctx.oidc ?? {};
    if (route !== 'token' || ctx.status !== 200 || grant === undefined) return;

    const body = ctx.body as TokenResponse;
    body.scope = [openidScope(ctx), body.scope].filter(Boolean).join(' ');
    if (refreshToken === undefined) return;
    body.refresh_token = refreshToken.jti;
    if (sourceOf(ctx) === refreshToken && ctx.oidc.entities.RotatedRefreshToken === undefined) {
      refreshToken.exp = epochSeconds(server.clock) + refreshLifetime(server, ctx);
      await refreshToken.save();
    }
  };
}
