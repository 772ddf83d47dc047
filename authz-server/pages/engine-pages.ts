import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { cspSource } from '#shared/pages/csp-source.ts';
import type { PagesServer } from '../base/server.ts';
import { seeOther } from './frame/respond.ts';
import { createBrowserSessions } from './sign-in/session.ts';

type Next = () => Promise<unknown>;
type Params = KoaContextWithOIDC['oidc']['params'];

const POLICY = 'Content-Security-Policy';
/** The engine adds the hash of its script to this directive, on the pages that submit themselves. */
const EMPTY = 'script-src';
const HASHED = /^script-src ('sha256-[\w+/=]+')$/;

/** Fields of every answer that a browser shows or follows. */
export const NAVIGATED_FIELDS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

/** The engine's routes that browsers navigate to; the others are for programs. */
export const NAVIGATED = /^\/(?:auth|session)(?:\/|$)/;

/**
 * The one page of the engine's own that is shown submits itself: the answer by `response_mode=form_post` (OAuth
 * 2.0 Form Post Response Mode section 2). Its policy allows that script, by its hash, and the place that the
 * form leads to; without script it has a button. Where the engine would have a form end a session, it ends.
 */
export function enginePages(server: PagesServer, provider: Provider) {
  const { currentVisitor, signOutVisitor, forget } = createBrowserSessions(server, provider);

  /**
   * Ends what is left of a session, and goes on: of nobody (OpenID Connect RP-Initiated Logout 1.0 section 2),
   * or of who was signed in before somebody else has just shown a password.
   */
  async function endSession(ctx: KoaContextWithOIDC): Promise<void> {
    const { session } = ctx.oidc;
    const { postLogoutRedirectUri: uri, state } = session?.state ?? {};
    const visitor = await currentVisitor(ctx);
    if (visitor) await signOutVisitor(ctx, visitor);
    else if (session) await forget(ctx, session);
    const leadsTo = new URL(typeof uri === 'string' ? uri : ctx.oidc.urlFor('end_session_success'));
    if (typeof state === 'string') leadsTo.searchParams.set('state', state);
    seeOther(ctx, leadsTo.href);
  }

  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    if (!NAVIGATED.test(ctx.path)) {
      await next();
      return;
    }
    ctx.set(POLICY, EMPTY);
    await next();
    const policy = ctx.response.get(POLICY);
    const [, hash] = HASHED.exec(policy) ?? [];
    const ends = `action="${ctx.oidc.urlFor('end_session_confirm')}"`;
    if (hash !== undefined && String(ctx.body).includes(ends)) {
      ctx.remove(POLICY);
      await endSession(ctx);
    } else if (hash !== undefined) ctx.set(POLICY, submittingPolicy(hash, ctx.oidc.params));
    else if (policy === EMPTY) ctx.remove(POLICY);
    for (const [name, value] of Object.entries(NAVIGATED_FIELDS)) {
      if (!ctx.res.hasHeader(name)) ctx.set(name, value);
    }
  };
}

/** The checked redirect URI is what the form leads to, at once or by the redirects that follow. */
function submittingPolicy(hash: string, params: Params): string {
  const uri = params?.['redirect_uri'];
  return [
    "default-src 'none'",
    `script-src ${hash}`,
    ["form-action 'self'", typeof uri === 'string' && cspSource(uri)].filter(Boolean).join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
