import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { BY_PASSWORD } from '#shared/people/access/assurance.ts';
import { changePassword, changePasswordAndEnd } from '#shared/people/change-password.ts';
import { judgePassword } from '#shared/people/password-rules.ts';
import { PeopleError } from '#shared/people/people.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { asPerson } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import { notify } from '#shared/mail/notify.ts';
import { createCsrf } from '../frame/csrf.ts';
import { expired } from '../frame/page-error.ts';
import { answerWith, noteDone, noteLate, seeOther } from '../frame/respond.ts';
import { createDoneNotes } from '../frame/done-notes.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { createAttemptLimits } from '../sign-in/attempt-limits.ts';
import { isRecent } from '../sign-in/recent.ts';
import { createBrowserSessions, type Visitor } from '../sign-in/session.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import { changePasswordPage } from '../views/change-password.ts';
import { passwordNotice } from './password-notice.ts';
import type { NewPasswordProblem } from '../views/new-password.ts';

const PATH = '/account/password';

/** A visitor, and their record as it was before the request was checked. */
interface Changer {
  readonly visitor: Visitor;
  readonly seen: PersonRecord;
}

/** The page where a person changes their password, or sets a first one. */
export function changePasswordHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'show' | 'change', Middleware>> {
  const { checkForm } = createCsrf(server);
  const { currentVisitor, keepVisitor } = createBrowserSessions(server, provider);
  const { limited } = createAttemptLimits(server);
  const { ask } = createSignIn(server, provider);
  const doneNotes = createDoneNotes(server);
  const viewOf = createViewOf(server);

  /** Undefined: the answer asks to sign in. Somebody without a password needs a sign-in of the last minutes in its place. */
  async function changerOf(ctx: Context): Promise<Changer | undefined> {
    const visitor = await currentVisitor(ctx);
    const seen = visitor && (await server.stores.people.get(visitor.person.id));
    if (visitor === undefined || seen === undefined) {
      ask(ctx, PATH);
      return undefined;
    }
    if (seen.password_hash === undefined && !isRecent(visitor, server)) {
      ask(ctx, PATH, { name: seen.name, notice: 'again' });
      return undefined;
    }
    return { visitor, seen };
  }

  function showForm(
    ctx: Context,
    { visitor, seen }: Changer,
    more: { readonly endsOthers: boolean; readonly problem?: NewPasswordProblem },
  ): void {
    const hasPassword = seen.password_hash !== undefined;
    const props = { action: PATH, back: TO_ACCOUNT.href, name: seen.name, hasPassword, ...more };
    answerWith(ctx, changePasswordPage(viewOf(ctx, visitor.person), props));
  }

  /** Checks the old password. Guesses count against the limits of sign-ins. */
  const checkCurrent = (ctx: Context, { name, id }: PersonRecord, current: string) =>
    limited(ctx, name, async (turn) => {
      const person = await server.directory.authenticate(name, current, turn);
      return person?.id === id
        ? { person, means: { assurance: BY_PASSWORD } }
        : { problem: { kind: 'wrong' as const } };
    });

  return {
    async show(ctx) {
      const changer = await changerOf(ctx);
      if (changer) showForm(ctx, changer, { endsOthers: true });
    },

    async change(ctx) {
      const form = await checkForm(ctx);
      const changer = await changerOf(ctx);
      if (changer === undefined) return;
      const { visitor, seen } = changer;
      const password = form.get('password') ?? '';
      const endsOthers = form.get('others') === 'end';
      const judged = await judgePassword(password);
      if ('fault' in judged) {
        return showForm(ctx, changer, { endsOthers, problem: { kind: judged.fault } });
      }
      if (seen.password_hash !== undefined) {
        const attempt = await checkCurrent(ctx, seen, form.get('current') ?? '');
        if ('problem' in attempt) {
          return showForm(ctx, changer, { endsOthers, problem: attempt.problem });
        }
        if (form.get('current') === password) {
          return showForm(ctx, changer, { endsOthers, problem: { kind: 'same' } });
        }
      }
      const acting = asPerson(server, seen.id, ctx);
      try {
        if (endsOthers) {
          const { generation } = await changePasswordAndEnd(acting, seen, password);
          await keepVisitor(ctx, visitor, generation);
        } else {
          await changePassword(acting, seen, password);
        }
      } catch (error) {
        // The person was changed or removed meanwhile.
        if (!(error instanceof PeopleError)) throw error;
        noteLate(ctx);
        throw expired(TO_ACCOUNT, 409);
      }
      await notify(server, seen.id, passwordNotice(seen), viewOf(ctx).language);
      noteDone(ctx);
      seeOther(ctx, doneNotes.address(ctx, '/account', endsOthers ? 'others' : 'password'));
    },
  };
}
