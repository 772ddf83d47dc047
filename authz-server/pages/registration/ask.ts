import { hash } from 'node:crypto';
import type { Middleware } from 'koa';
import { customerOf } from '#shared/http/forwarded.ts';
import { notify } from '#shared/mail/notify.ts';
import { addressKey, mailAddress } from '#shared/people/names/mail-address.ts';
import type { PagesServer } from '../../base/server.ts';
import { payForLink } from '../addresses/mail-limits.ts';
import { createCsrf } from '../frame/csrf.ts';
import { answerWith } from '../frame/respond.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import {
  askToRegisterPage,
  registrationSentPage,
  type AskToRegisterProps,
} from '../views/registration.ts';

/** The path of the page. It exists only if registration is open. */
export const ASK_PATH = '/register';

/**
 * Sends a link by mail to a person who wants an account. Neither the answer nor its time reveals who has an account.
 */
export function askToRegisterHandlers(
  server: PagesServer,
): Readonly<Record<'show' | 'send', Middleware>> {
  const { checkForm } = createCsrf(server);
  const viewOf = createViewOf(server);
  const props = { action: ASK_PATH, back: TO_ACCOUNT.href };

  return {
    show: (ctx) => answerWith(ctx, askToRegisterPage(viewOf(ctx), props)),

    async send(ctx) {
      const form = await checkForm(ctx);
      const view = viewOf(ctx);
      const typed = form.get('address') ?? '';
      const refuse = (problem: NonNullable<AskToRegisterProps['problem']>) =>
        answerWith(ctx, askToRegisterPage(view, { ...props, typed, problem }));
      const address = mailAddress(typed);
      if (address === undefined) return refuse({ kind: 'address' });
      const seconds = await payForLink(
        server,
        ['registration-address', customerOf(ctx.ip)],
        address,
      );
      if (seconds !== undefined) return refuse({ kind: 'later', seconds });
      // A common limit bounds the rows that unknown visitors at many IP addresses can store.
      const all = await server.stores.limits.spend(
        'all-visits',
        'all',
        server.config.limits.allVisits,
      );
      if (!all.ok) return refuse({ kind: 'later', seconds: all.retryAfter });
      const nobody = `(nobody) ${hash('sha256', addressKey(address), 'base64url')}`;
      await notify(server, nobody, 'registration', view.language, { to: address });
      answerWith(ctx, registrationSentPage(view, { back: props.back }));
    },
  };
}
