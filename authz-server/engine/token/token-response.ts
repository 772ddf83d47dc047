import type { KoaContextWithOIDC } from 'oidc-provider';
import type { EngineRequest } from '../refresh/engine-request.ts';
import { openidScope } from './openid-scope.ts';

interface TokenResponse {
  scope?: string;
  refresh_token?: string;
}

/**
 * Completes what the engine answers to a client of a person (RFC 6749 section 5.1): all scopes that were
 * granted, those of OpenID Connect included, and the refresh token that is stored (`successor`).
 */
export function tokenResponse(ctx: KoaContextWithOIDC, { successor }: EngineRequest): void {
  const { grant, route } = ctx.oidc;
  if (route !== 'token' || grant === undefined) return;
  const body = ctx.body as TokenResponse;
  body.scope = [openidScope(ctx), body.scope].filter(Boolean).join(' ');
  if (successor) body.refresh_token = successor.id;
}
