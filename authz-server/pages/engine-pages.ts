import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { untoldApplications } from '#shared/people/access/untold.ts';
import { shownName } from '../consent/shown-name.ts';
import type { PagesServer } from '../base/server.ts';
import { answerWith, seeOther } from './frame/respond.ts';
import { createViewOf, frameOf } from './frame/view-of.ts';
import { createKeptAnswers } from './kept-answers.ts';
import { createBrowserSessions } from './sign-in/session.ts';
import { goOnPage } from './views/go-on.ts';
import { signedOutPage } from './views/signed-out.ts';

type Next = () => Promise<unknown>;

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

/** The engine's routes to which one of our forms redirects. */
const AFTER_FORM = /^\/(?:auth\/[^/]+|session\/end\/confirm)$/;

/** The pages of this server to which these routes redirect. */
const OWN_PAGE = /^\/(?:interaction|auth|session)\//;

/**
 * The one page of the engine's own that is shown submits itself: the answer by `response_mode=form_post` (OAuth 2.0
 * Form Post Response Mode section 2). Its policy allows that script, by its hash; without script it has a button. It
 * says nothing of where forms lead: the client may redirect to anywhere, and the form has nothing that a person types.
 * If the engine would show a form that ends a session, the session ends without it. If the engine redirects to a client
 * after one of our forms, a page of ours does that instead. It waits for the person if it has to name applications that
 * may still have a session of theirs.
 */
export function enginePages(server: PagesServer, provider: Provider) {
  const { currentVisitor, signOutVisitor, forget } = createBrowserSessions(server, provider);
  const { keep } = createKeptAnswers(server, provider);
  const viewOf = createViewOf(server);

  /**
   * Ends the rest of a session, and redirects. Either no person is signed in (OpenID Connect RP-Initiated Logout 1.0
   * section 2), or another person has just signed in.
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

  /** Answers with a page in place of the engine's redirect to a client. The page leads to the same URL. */
  async function goOn(ctx: KoaContextWithOIDC, untold: readonly string[]): Promise<void> {
    const location = URL.parse(ctx.response.get('Location'), server.config.issuer);
    const isOurs = location?.origin === server.config.issuer && OWN_PAGE.test(location.pathname);
    const { client, params } = ctx.oidc;
    if (location === null || isOurs || client === undefined) return;
    const record = await server.stores.clients.get(client.clientId);
    const back = { href: location.href, client: record ? shownName(record) : client.clientId };
    ctx.remove('Location');
    const frame = frameOf(server, ctx.req, params?.['ui_locales']);
    const page =
      untold.length > 0 ? signedOutPage(viewOf(ctx), untold, back) : goOnPage(frame, back);
    answerWith(ctx, page);
  }

  /** Returns the applications that the server could not tell yet that this request has ended the person's session. */
  async function untoldOf({ oidc }: KoaContextWithOIDC): Promise<readonly string[]> {
    const { accountId } = oidc.session ?? {};
    if (oidc.route !== 'end_session_confirm' || accountId === undefined) return [];
    return oidc.params?.['logout'] ? untoldApplications(server.stores, accountId) : [];
  }

  /** Answers the end of a session in place of the engine's redirect to the page that says so, to name applications. */
  function nameUntold(ctx: KoaContextWithOIDC, untold: readonly string[]): void {
    if (ctx.response.get('Location') !== ctx.oidc.urlFor('end_session_success')) return;
    ctx.remove('Location');
    answerWith(ctx, signedOutPage(viewOf(ctx), untold));
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
    } else if (hash !== undefined) ctx.set(POLICY, submittingPolicy(hash));
    else if (policy === EMPTY) ctx.remove(POLICY);
    if (ctx.oidc.route === 'resume') await keep(ctx);
    const untold = await untoldOf(ctx);
    if (untold.length > 0) nameUntold(ctx, untold);
    if (ctx.status === 303 && AFTER_FORM.test(ctx.path)) await goOn(ctx, untold);
    for (const [name, value] of Object.entries(NAVIGATED_FIELDS)) {
      if (!ctx.res.hasHeader(name)) ctx.set(name, value);
    }
  };
}

const submittingPolicy = (hash: string): string =>
  ["default-src 'none'", `script-src ${hash}`, "base-uri 'none'", "frame-ancestors 'none'"].join(
    '; ',
  );
