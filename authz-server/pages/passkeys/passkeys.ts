import { isVisibleName } from '#shared/people/names/visible-name.ts';
import { admittedBy } from '#shared/config/production.ts';
import { hasOtherWayIn } from '#shared/people/other-ways-in.ts';
import { removePasskey } from '#shared/people/remove-passkey.ts';
import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { asPerson } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import { notify } from '#shared/mail/notify.ts';
import { createCsrf } from '../frame/csrf.ts';
import { createDoneNotes } from '../frame/done-notes.ts';
import { PageError } from '../frame/page-error.ts';
import { answerWith, noteDone, noteLate, seeOther } from '../frame/respond.ts';
import type { PasskeysProps } from '../frame/account-view.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { createLastWay } from '../sign-in/last-way.ts';
import { isRecent } from '../sign-in/recent.ts';
import { createBrowserSessions, type Visitor } from '../sign-in/session.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import { passkeysPage } from '../views/passkeys.ts';
import { isNameTaken } from './passkey-names.ts';
import { answerIn, createRegistration } from './registration.ts';

const PATH = '/account/passkeys';

type Problem = PasskeysProps['problem'];
type Done = NonNullable<PasskeysProps['done']>;
/** The outcome of a change. */
type Changed = { readonly done: Done } | { readonly problem: NonNullable<Problem> };

/** The page where a person makes, names and removes passkeys. It needs a sign-in of the last five minutes. */
export function passkeyHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'show' | 'change', Middleware>> {
  const { stores } = server;
  const { checkForm } = createCsrf(server);
  const { currentVisitor } = createBrowserSessions(server, provider);
  const { ask } = createSignIn(server, provider);
  const registration = createRegistration(server);
  const lastWay = createLastWay(server);
  const doneNotes = createDoneNotes(server);
  const viewOf = createViewOf(server);

  /** Undefined: the answer asks the person to sign in, or to sign in again if the last sign-in is too old. */
  async function recentVisitor(ctx: Context, done?: string): Promise<Visitor | undefined> {
    const visitor = await currentVisitor(ctx);
    if (visitor !== undefined && isRecent(visitor, server)) return visitor;
    const again = visitor && { name: visitor.person.name, notice: 'again' as const };
    const isGone = visitor === undefined && done === 'removed';
    ask(ctx, PATH, isGone ? { notice: 'passkey-removed' } : again);
    return undefined;
  }

  async function showPasskeys(
    ctx: Context,
    { person, signIn }: Visitor,
    more: Pick<PasskeysProps, 'problem' | 'done' | 'name'>,
  ): Promise<void> {
    const view = viewOf(ctx, person);
    const passkeys = await stores.passkeys.of(person.id);
    const options = registration.options(person, view.csrf, passkeys);
    const page = passkeysPage(view, {
      action: PATH,
      passkeys: passkeys.map(({ id, name, created_at: since, used_at, refused_at }) =>
        Object.assign(
          { id, name, since, current: id === signIn.passkey },
          used_at !== undefined && { lastUse: used_at },
          refused_at !== undefined && { refused: refused_at },
        ),
      ),
      hasPassword: (await stores.people.get(person.id))?.password_hash !== undefined,
      ...(options !== undefined && { options }),
      ...more,
    });
    answerWith(ctx, page);
  }

  /** The values of the form's `do`. */
  const CHANGES: Readonly<
    Record<Done, (ctx: Context, visitor: Visitor, form: URLSearchParams) => Promise<Changed>>
  > = {
    async added(ctx, { person }, form) {
      const name = nameIn(form);
      if (name === undefined) return { problem: 'name' };
      if (isNameTaken(await stores.passkeys.of(person.id), name)) return { problem: 'name-taken' };
      const checked = await registration.check(ctx, person.id, answerIn(form));
      if ('problem' in checked) return checked;
      const { recorder } = asPerson(server, person.id, ctx);
      const passkey = registration.record(person.id, checked.made, name);
      const problem = await registration.keep(recorder, passkey);
      return problem === undefined ? { done: 'added' } : { problem };
    },

    async renamed(ctx, { person }, form) {
      const name = nameIn(form);
      if (name === undefined) return { problem: 'name' };
      const id = form.get('id') ?? '';
      if (isNameTaken(await stores.passkeys.of(person.id), name, id))
        return { problem: 'name-taken' };
      const renamed = { kind: 'passkey.renamed', person: person.id, key: id } as const;
      const { recorder } = asPerson(server, person.id, ctx);
      const isTheirs = await recorder.changing('passkeys', renamed).rename(person.id, id, name);
      return isTheirs ? { done: 'renamed' } : { problem: 'gone' };
    },

    async removed(ctx, { person, signIn }, form) {
      const least = (await hasOtherWayIn(stores, admittedBy(server.config), person.id)) ? 0 : 1;
      const removal = { accountId: person.id, id: form.get('id') ?? '', least };
      const outcome = await removePasskey(asPerson(server, person.id, ctx), removal);
      if (outcome !== 'removed') return { problem: outcome };
      // The sign-in page must not offer the removed passkey first.
      if (removal.id === signIn.passkey) lastWay.remember(ctx, 'password');
      return { done: 'removed' };
    },
  };

  return {
    async show(ctx) {
      const done = doneNotes.read(ctx);
      const visitor = await recentVisitor(ctx, done);
      if (visitor === undefined) return;
      await showPasskeys(ctx, visitor, isDone(done) ? { done } : {});
    },

    async change(ctx) {
      const form = await checkForm(ctx);
      const visitor = await recentVisitor(ctx);
      if (visitor === undefined) return;
      const change = form.get('do');
      if (!isDone(change)) throw new PageError(400, 'request', { back: TO_ACCOUNT });
      const changed = await CHANGES[change](ctx, visitor, form);
      if ('done' in changed && changed.done !== 'renamed') {
        const kind = `passkey-${changed.done}` as const;
        await notify(server, visitor.person.id, kind, viewOf(ctx).language);
      }
      if ('done' in changed) {
        noteDone(ctx);
        return seeOther(ctx, doneNotes.address(ctx, PATH, changed.done));
      }
      if (changed.problem === 'late' || changed.problem === 'gone') noteLate(ctx);
      const typed = change === 'added' && { name: form.get('name') ?? '' };
      await showPasskeys(ctx, visitor, { ...changed, ...typed });
    },
  };
}

const DONE: ReadonlySet<string | null | undefined> = new Set<Done>(['added', 'renamed', 'removed']);
const isDone = (text: string | null | undefined): text is Done => DONE.has(text);

/** Returns the name for a passkey. Undefined: people could not read it, or not distinguish it from others. */
function nameIn(form: URLSearchParams): string | undefined {
  const name = (form.get('name') ?? '').trim();
  return isVisibleName(name) ? name : undefined;
}
