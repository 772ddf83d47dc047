import type { KoaContextWithOIDC } from 'oidc-provider';
import { epochSeconds } from '#shared/base/clock.ts';
import { refreshLifetime } from '../lifetimes.ts';
import { openidScope, sourceOf } from './openid-scope.ts';
import type { AuthzServer } from '../../base/server.ts';

interface TokenResponse {
  scope?: string;
  refresh_token?: string;
}

/**
 * Completes what the engine answers to a client of a person (RFC 6749 section 5.1): all scopes that were
 * granted, those of OpenID Connect included, and the refresh token that is stored (`successor`). One that is
 * not replaced is prolonged by its use instead.
 */
export function tokenResponse(server: Pick<AuthzServer, 'config' | 'clock'>) {
  return async (
    ctx: KoaContextWithOIDC,
    { successor }: { readonly successor?: { readonly id: string } },
  ): Promise<void> => {
    const { grant, refreshToken, route, entities } = ctx.oidc;
    if (route !== 'token' || grant === undefined) return;

    const body = ctx.body as TokenResponse;
    body.scope = [openidScope(ctx), body.scope].filter(Boolean).join(' ');
    if (successor) body.refresh_token = successor.id;
    if (refreshToken && sourceOf(ctx) === refreshToken && !entities.RotatedRefreshToken) {
      refreshToken.exp = epochSeconds(server.clock) + refreshLifetime(server, ctx);
      await refreshToken.save();
    }
  };
}
