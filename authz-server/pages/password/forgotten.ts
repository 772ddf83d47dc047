import { createHash } from 'node:crypto';
import type { Middleware } from 'koa';
import { customerOf } from '#shared/http/forwarded.ts';
import { usernameCaseMapped } from '#shared/people/names/precis.ts';
import type { LimitNamespace, Rate } from '#shared/stores/limits/limits.ts';
import type { PagesServer } from '../../base/server.ts';
import { notify } from '#shared/mail/notify.ts';
import { createCsrf } from '../frame/csrf.ts';
import { answerWith } from '../frame/respond.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { forgottenPage, linkSentPage } from '../views/forgotten.ts';

/** The path of the page. Without `mail` in the configuration there is no such page. */
export const FORGOTTEN_PATH = '/recover';

/** Limits of links for a new password: three an hour for a name, ten for an IP address. */
const OF_NAME: Rate = { burst: 3, per: 1200 };
const OF_ADDRESS: Rate = { burst: 10, per: 360 };

/**
 * Sends a link by mail to somebody who forgot their password. Neither the answer nor its time reveals whether the
 * person exists: a message is queued in any case. The background job that sends it checks whether there is a recipient.
 */
export function forgottenHandlers(
  server: PagesServer,
): Readonly<Record<'show' | 'send', Middleware>> {
  const { limits, people } = server.stores;
  const { checkForm } = createCsrf(server);
  const viewOf = createViewOf(server);
  const props = { action: FORGOTTEN_PATH, back: TO_ACCOUNT.href };

  return {
    show: (ctx) => answerWith(ctx, forgottenPage(viewOf(ctx), props)),

    async send(ctx) {
      const form = await checkForm(ctx);
      const view = viewOf(ctx);
      const typed = form.get('name') ?? '';
      const name = usernameCaseMapped(typed) ?? '';
      const key = createHash('sha256').update(name).digest('base64url');
      const buckets: readonly (readonly [LimitNamespace, string, Rate])[] = [
        ['recovery-address', customerOf(ctx.ip), OF_ADDRESS],
        ['recovery-name', key, OF_NAME],
      ];
      for (const bucket of buckets) {
        const paid = await limits.spend(...bucket);
        if (!paid.ok) {
          const problem = { kind: 'later', seconds: paid.retryAfter } as const;
          return answerWith(ctx, forgottenPage(view, { ...props, name: typed, problem }));
        }
      }
      const person = await people.getByName(name);
      await notify(server, person?.id ?? `(nobody) ${key}`, 'recovery', view.language);
      answerWith(ctx, linkSentPage(view, props));
    },
  };
}
