import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { untoldApplications } from '#shared/people/access/untold.ts';
import { createCsrf } from '../frame/csrf.ts';
import type { PagesServer } from '../../base/server.ts';
import { answerWith, seeOther } from '../frame/respond.ts';
import { createBrowserSessions } from './session.ts';
import { createViewOf } from '../frame/view-of.ts';
import { signOutPage } from '../views/sign-out.ts';
import { signedOutPage } from '../views/signed-out.ts';

/** Answers a sign-out. If the server could not tell an application yet, the page names it. */
export async function answerSignedOut(
  ctx: Context,
  server: PagesServer,
  accountId: string,
): Promise<void> {
  const untold = await untoldApplications(server.stores, accountId);
  if (untold.length === 0) return seeOther(ctx, '/sign-out');
  answerWith(ctx, signedOutPage(createViewOf(server)(ctx), untold));
}

/** Signing out from our own pages; a client asks for it at the engine's `/session/end`. */
export function signOutHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'ask' | 'signOut', Middleware>> {
  const { checkForm } = createCsrf(server);
  const { currentVisitor, signOutVisitor } = createBrowserSessions(server, provider);
  const viewOf = createViewOf(server);

  return {
    async ask(ctx) {
      const visitor = await currentVisitor(ctx);
      const page =
        visitor === undefined
          ? signedOutPage(viewOf(ctx))
          : signOutPage(viewOf(ctx, visitor.person), { action: '/sign-out', hidden: {} });
      answerWith(ctx, page);
    },

    async signOut(ctx) {
      const form = await checkForm(ctx);
      if (form.get('logout') !== 'yes') return seeOther(ctx, '/account');
      const visitor = await currentVisitor(ctx);
      if (visitor === undefined) return seeOther(ctx, '/sign-out');
      await signOutVisitor(ctx, visitor);
      await answerSignedOut(ctx, server, visitor.person.id);
    },
  };
}
