import type { Context, Middleware } from 'koa';
import { changePasswordAndEnd } from '#shared/people/change-password.ts';
import { judgePassword } from '#shared/people/password-rules.ts';
import { PeopleError } from '#shared/people/people.ts';
import { createRecoveryLinks, LINK_PATH, type Recovery } from '#shared/people/recovery-links.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import type { PagesServer } from '../../base/server.ts';
import { notify } from '../../mail/notify.ts';
import type { MailKind } from '../../mail/texts.ts';
import { createCsrf } from '../frame/csrf.ts';
import { expired } from '../frame/page-error.ts';
import { answerWith } from '../frame/respond.ts';
import type { RecoverProps } from '../frame/view.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { recoveredPage, recoverPage, recoveryGonePage } from '../views/recover.ts';

/** A link that is good, and the record of its person. */
interface Holder {
  readonly recovery: Recovery;
  readonly seen: PersonRecord;
}

/**
 * The page of a link for somebody who cannot sign in. Programs that open every link of a mail use nothing up: GET only
 * shows the form, and only a password that may be set uses the link up. Nobody is signed in by it, so that a second
 * factor is still asked for.
 */
export function recoverHandlers(
  server: PagesServer,
): Readonly<Record<'show' | 'recover', Middleware>> {
  const { stores, directory } = server;
  const links = createRecoveryLinks(server);
  const { checkForm } = createCsrf(server);
  const viewOf = createViewOf(server);

  async function holderOf(secret: string): Promise<Holder | undefined> {
    const recovery = await links.find(secret);
    if (recovery === undefined) return undefined;
    const [seen, person] = await Promise.all([
      stores.people.get(recovery.person),
      // Only somebody who may sign in.
      directory.find(recovery.person),
    ]);
    return seen && person && { recovery, seen };
  }

  const showForm = (
    ctx: Context,
    { recovery: { purpose, secondFactor = false }, seen: { name } }: Holder,
    more: Pick<RecoverProps, 'problem'> = {},
  ) => {
    const props = { action: ctx.path, name, purpose, secondFactor, ...more };
    answerWith(ctx, recoverPage(viewOf(ctx), props));
  };

  const secretOf = (ctx: Context) => ctx.path.slice(LINK_PATH.length);

  return {
    async show(ctx) {
      const holder = await holderOf(secretOf(ctx));
      if (holder === undefined) return answerWith(ctx, recoveryGonePage(viewOf(ctx)));
      showForm(ctx, holder);
    },

    async recover(ctx) {
      const form = await checkForm(ctx);
      const secret = secretOf(ctx);
      const holder = await holderOf(secret);
      if (holder === undefined) return answerWith(ctx, recoveryGonePage(viewOf(ctx)));
      const password = form.get('password') ?? '';
      const judged = await judgePassword(password);
      if ('fault' in judged) return showForm(ctx, holder, { problem: { kind: judged.fault } });
      const recovery = await links.redeem(secret);
      if (recovery === undefined) return answerWith(ctx, recoveryGonePage(viewOf(ctx)));
      const { purpose, secondFactor = false } = recovery;
      try {
        await changePasswordAndEnd(server, holder.seen, password);
      } catch (error) {
        // Changed or removed meanwhile.
        if (error instanceof PeopleError) throw expired(TO_ACCOUNT, 409);
        throw error;
      }
      // Last, so that at no time the former password is enough.
      const view = viewOf(ctx);
      const tell = (kind: MailKind) => notify(server, recovery.person, kind, view.language);
      if (secondFactor && (await stores.secondFactors.remove(recovery.person))) {
        await tell('second-factor-removed');
      }
      await tell('password-changed');
      answerWith(ctx, recoveredPage(view, { purpose, account: TO_ACCOUNT.href }));
    },
  };
}
