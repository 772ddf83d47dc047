import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { admittedBy } from '#shared/config/production.ts';
import { notify } from '#shared/mail/notify.ts';
import { linkIdentity, unlinkIdentity } from '#shared/people/linked-identities.ts';
import { hasWayIn } from '#shared/people/other-ways-in.ts';
import { PeopleError } from '#shared/people/people.ts';
import { asPerson } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import { startPath } from '../../sources/sources.ts';
import { createCsrf } from '../frame/csrf.ts';
import { createDoneNotes } from '../frame/done-notes.ts';
import { PageError } from '../frame/page-error.ts';
import { answerWith, noteDone, noteLate, seeOther } from '../frame/respond.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { otherWays } from '../sign-in/other-ways.ts';
import { isRecent } from '../sign-in/recent.ts';
import { createBrowserSessions, type Visitor } from '../sign-in/session.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import { linkAccountPage, sourcesPage, type SourcesProps } from '../views/sources.ts';
import { createOffers, LINKED_PATH } from './offers.ts';

type Problem = NonNullable<SourcesProps['problem']>;
type Done = NonNullable<SourcesProps['done']>;

/** The page where a person links accounts elsewhere and removes such links. It needs a recent sign-in. */
export function linkedHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'show' | 'change', Middleware>> {
  const { config, stores } = server;
  const { checkForm } = createCsrf(server);
  const { currentVisitor } = createBrowserSessions(server, provider);
  const { ask } = createSignIn(server, provider);
  const offers = createOffers(server);
  const doneNotes = createDoneNotes(server);
  const viewOf = createViewOf(server);

  /** Undefined: the answer asks the person to sign in, or to sign in again if the last sign-in is too old. */
  async function recentVisitor(ctx: Context): Promise<Visitor | undefined> {
    const visitor = await currentVisitor(ctx);
    if (visitor !== undefined && isRecent(visitor, server)) return visitor;
    ask(ctx, LINKED_PATH, visitor && { name: visitor.person.name, notice: 'again' });
    return undefined;
  }

  async function showSources(
    ctx: Context,
    { person }: Visitor,
    more: Pick<SourcesProps, 'problem' | 'done'> = {},
  ): Promise<void> {
    const { origin, linked = [] } = (await stores.people.get(person.id)) ?? {};
    const sources = [...server.sources].map(([name, { title }]) => {
      const since = linked.find(({ source }) => source === name)?.created_at;
      const isOrigin = origin?.source === name;
      const entry = { name, title, link: `${startPath(name)}?do=link`, isOrigin };
      return Object.assign(entry, since !== undefined && { since });
    });
    answerWith(ctx, sourcesPage(viewOf(ctx, person), { action: LINKED_PATH, sources, ...more }));
  }

  async function link(ctx: Context, { person, session }: Visitor, form: URLSearchParams) {
    const offer = await offers.use(ctx, form.get('account') ?? '');
    if (offer?.session !== session.uid) {
      noteLate(ctx);
      return 'late';
    }
    try {
      await linkIdentity(asPerson(server, person.id, ctx), person, offer);
    } catch (error) {
      if (error instanceof PeopleError) return 'taken';
      throw error;
    }
    await notify(server, person.id, 'account-linked', viewOf(ctx).language);
    return undefined;
  }

  async function unlink(ctx: Context, { person }: Visitor, form: URLSearchParams) {
    const source = form.get('source') ?? '';
    const hasKey = (await otherWays(server, person.id)).length > 0;
    const admitted = admittedBy(config);
    const acting = asPerson(server, person.id, ctx);
    const outcome = await unlinkIdentity(
      acting,
      person,
      source,
      (left) => hasKey || hasWayIn(left, admitted),
    );
    if (outcome === 'gone') noteLate(ctx);
    if (outcome !== 'removed') return outcome;
    await notify(server, person.id, 'account-unlinked', viewOf(ctx).language);
    return undefined;
  }

  const CHANGES: Readonly<
    Record<
      string,
      readonly [
        Done,
        (ctx: Context, visitor: Visitor, form: URLSearchParams) => Promise<Problem | undefined>,
      ]
    >
  > = { link: ['linked', link], unlink: ['unlinked', unlink] };

  return {
    async show(ctx) {
      const visitor = await recentVisitor(ctx);
      if (visitor === undefined) return;
      const account = new URLSearchParams(ctx.querystring).get('account');
      const done = doneNotes.read(ctx);
      if (account === null) {
        return showSources(ctx, visitor, done === 'linked' || done === 'unlinked' ? { done } : {});
      }
      const offer = await offers.read(ctx, account);
      if (offer?.session !== visitor.session.uid) {
        return showSources(ctx, visitor, { problem: 'late' });
      }
      const title = server.sources.get(offer.source)?.title ?? offer.source;
      const props = { action: LINKED_PATH, account, title, label: offer.label };
      answerWith(ctx, linkAccountPage(viewOf(ctx, visitor.person), props));
    },

    async change(ctx) {
      const form = await checkForm(ctx);
      const visitor = await recentVisitor(ctx);
      if (visitor === undefined) return;
      const change = CHANGES[form.get('do') ?? ''];
      if (change === undefined) throw new PageError(400, 'request', { back: TO_ACCOUNT });
      const [done, make] = change;
      const problem = await make(ctx, visitor, form);
      if (problem !== undefined) return showSources(ctx, visitor, { problem });
      noteDone(ctx);
      seeOther(ctx, doneNotes.address(ctx, LINKED_PATH, done));
    },
  };
}
