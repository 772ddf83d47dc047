import { decodeJwt } from 'jose';
import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { note } from '#shared/server/message/request-log.ts';
import { shownUri } from '../../base/reasons.ts';

/**
 * OpenID Connect RP-Initiated Logout 1.0 section 3: the browser must not be sent to an unregistered URI, but the person
 * still signs out. So such a URI is left out, and the person stays on our page.
 */
export function leaveOutUnregistered(provider: Provider): Middleware {
  return async (ctx, next) => {
    const { post_logout_redirect_uri: uri, ...others } = ctx.query;
    if (typeof uri === 'string') {
      const id = clientOf(ctx);
      const client = id === undefined ? undefined : await provider.Client.find(id);
      if (client && !client.postLogoutRedirectUriAllowed(uri)) {
        const shown = JSON.stringify(shownUri(uri));
        note(ctx.req, { reason: `post_logout_redirect_uri is not registered: ${shown}` });
        ctx.query = others;
      }
    }
    await next();
  };
}

/** Finds the client id as the engine does. The engine itself verifies the hint. */
function clientOf({ query: { client_id: id, id_token_hint: hint } }: Context): string | undefined {
  if (typeof id === 'string') return id;
  if (typeof hint !== 'string') return undefined;
  try {
    const { aud } = decodeJwt(hint);
    return typeof aud === 'string' ? aud : undefined;
  } catch {
    return undefined;
  }
}
