import { errors } from 'oidc-provider';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { createKeptAnswers } from './kept-answers.ts';
import { NAVIGATED } from './engine-pages.ts';
import { shownId } from '#shared/server/message/request-log.ts';
import { errorProps } from './frame/page-error.ts';
import { descriptionOf } from '../base/reasons.ts';
import { withRemedy } from '../base/remedies.ts';
import type { PagesServer } from '../base/server.ts';
import { answerWith } from './frame/respond.ts';
import type { ErrorProps } from './frame/view.ts';
import { createViewOf, frameOf } from './frame/view-of.ts';
import { errorPage } from './views/error.ts';
import { signOutPage } from './views/sign-out.ts';
import { signedOutPage } from './views/signed-out.ts';
import { wayBack } from './frame/way-back.ts';

type RpInitiatedLogout = NonNullable<NonNullable<Configuration['features']>['rpInitiatedLogout']>;

export interface EngineHooks
  extends
    Required<Pick<Configuration, 'renderError'>>,
    Required<Pick<RpInitiatedLogout, 'logoutSource' | 'postLogoutSuccessSource'>> {}

/** The pages that the engine (oidc-provider) renders through hooks: errors, and the sign-out that a client requests. */
export function engineHooks(server: PagesServer): EngineHooks {
  const viewOf = createViewOf(server);

  return {
    async renderError(ctx, out, error) {
      // Programs get JSON (RFC 6749 section 5.2), whatever `Accept` their HTTP library sends.
      if (!NAVIGATED.test(ctx.path) || ctx.accepts('json', 'html') !== 'html') {
        ctx.body = out;
        return;
      }
      const { client, provider, route } = ctx.oidc;
      const isOver = route === 'resume' && error instanceof errors.SessionNotFound;
      if (isOver && (await createKeptAnswers(server, provider).repeat(ctx))) return;
      const props = route === 'end_session_confirm' ? EXPIRED : errorProps(error);
      const specific = server.development ? descriptionOf(ctx, error, server) : undefined;
      const told = specific ?? withRemedy(out.error_description ?? out.error);
      const detail = [out.error, told].filter(Boolean).join(': ');
      const page = errorPage(frameOf(server, ctx.req, uiLocales(ctx)), {
        ...props,
        ...(props.kind === 'request' && { detail }),
        id: shownId(ctx.req),
        back: wayBack(client?.redirectUris),
      });
      answerWith(ctx, page);
    },

    async logoutSource(ctx) {
      const { session, client, provider } = ctx.oidc;
      const person = await server.directory.find(session?.accountId ?? '');
      const page = signOutPage(viewOf(ctx, person, uiLocales(ctx)), {
        action: provider.pathFor('end_session_confirm'),
        hidden: { xsrf: String(session?.state?.['secret']) },
        ...(client && { client: client.clientName ?? client.clientId }),
      });
      answerWith(ctx, page);
    },

    postLogoutSuccessSource(ctx) {
      answerWith(ctx, signedOutPage(viewOf(ctx)));
    },
  };
}

const EXPIRED: ErrorProps = { status: 400, kind: 'expired' };

const uiLocales = (ctx: KoaContextWithOIDC) => ctx.oidc.params?.['ui_locales'];
