import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { createInvitations } from '#shared/auth/schemes/hoba/invitations.ts';
import { hobaOrigins } from '#shared/config/hoba-origins.ts';
import { answerSignedOut } from './sign-in/sign-out.ts';
import { identitiesOf } from '#shared/people/names/aliases.ts';
import { untoldApplications } from '#shared/people/access/untold.ts';
import { asPerson } from '../base/acting.ts';
import type { PagesServer } from '../base/server.ts';
import { endOneProps } from './account/ask-first.ts';
import { ENDINGS, isEndedPart } from './account/endings.ts';
import { askedIn, listsOf, OVERVIEW } from './account/lists.ts';
import { startsOf } from './account/starts.ts';
import { ADMIN_PATH } from './admin/admission.ts';
import { ADDRESSES_PATH } from './addresses/addresses.ts';
import { DATA_PATH } from './own-data/data.ts';
import { createCsrf } from './frame/csrf.ts';
import { createDoneNotes } from './frame/done-notes.ts';
import { PageError } from './frame/page-error.ts';
import { answerWith, noteDone, noteLate, seeOther } from './frame/respond.ts';
import type { AccountProps } from './frame/account-view.ts';
import { createViewOf } from './frame/view-of.ts';
import { TO_ACCOUNT } from './frame/way-back.ts';
import { ACTIVITY_PATH, newestActivity } from './activity/activity.ts';
import { isRecent } from './sign-in/recent.ts';
import { createBrowserSessions } from './sign-in/session.ts';
import type { Visitor } from './sign-in/session.ts';
import { createSignIn } from './sign-in/sign-in.ts';
import { accountPage } from './views/account.ts';
import { endOnePage } from './views/end-one.ts';
import { endEverythingPage, everythingEndedPage } from './views/end-everything.ts';
import { keyLinkPage } from './views/key-link.ts';

const PATH = '/account';
const PASSKEYS_PATH = '/account/passkeys';
const KEY_PATH = '/account/key';

/** The page where a person sees and ends their sign-ins and the access of applications. */
export function accountHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'show' | 'ask' | 'end' | 'link', Middleware>> {
  const { config, stores } = server;
  const invitations = createInvitations(server);
  const keyOrigins = hobaOrigins(config);
  const { checkForm } = createCsrf(server);
  const { currentVisitor, signOutVisitor } = createBrowserSessions(server, provider);
  const { ask } = createSignIn(server, provider);
  const doneNotes = createDoneNotes(server);
  const viewOf = createViewOf(server);

  async function show(ctx: Context): Promise<void> {
    const visitor = await currentVisitor(ctx);
    if (visitor === undefined) return ask(ctx, PATH);
    const ended = doneNotes.read(ctx);
    await showAccount(ctx, visitor, 200, isEndedPart(ended) ? ended : undefined);
  }

  /** Asks the person before everything ends, or the one entry that the URL names. */
  async function askFirst(ctx: Context): Promise<void> {
    const visitor = await currentVisitor(ctx);
    if (visitor === undefined) return ask(ctx, PATH);
    const query = new URLSearchParams(ctx.querystring);
    const kind = query.get('end');
    if (kind !== null) return askAboutOne(ctx, visitor, { kind, id: query.get('id') ?? '' });
    const view = viewOf(ctx, visitor.person);
    const { more, ...lists } = await listsOf(server, visitor, OVERVIEW, view.language);
    const page = endEverythingPage(view, {
      action: PATH,
      back: PATH,
      lists,
      isMore: more.length > 0,
    });
    answerWith(ctx, page);
  }

  async function askAboutOne(
    ctx: Context,
    visitor: Visitor,
    thing: { readonly kind: string; readonly id: string },
  ): Promise<void> {
    const view = viewOf(ctx, visitor.person);
    const props = await endOneProps(server, view, visitor, thing);
    if (props === undefined) return showAccount(ctx, visitor, 404, 'gone');
    const { kind } = props;
    const where =
      kind === 'passkey'
        ? { action: PASSKEYS_PATH, back: PASSKEYS_PATH, fields: { do: 'removed', id: thing.id } }
        : { action: PATH, back: PATH, fields: { end: kind, id: thing.id } };
    answerWith(ctx, endOnePage(view, { ...props, ...where }));
  }

  async function end(ctx: Context): Promise<void> {
    const form = await checkForm(ctx);
    const visitor = await currentVisitor(ctx);
    if (visitor === undefined) return ask(ctx, PATH, { notice: 'nothing-ended' });
    const what = form.get('end') ?? '';
    const ending = ENDINGS.get(what);
    if (ending === undefined) {
      throw new PageError(400, 'request', { back: TO_ACCOUNT });
    }
    if (what === 'key' && !isRecent(visitor, server)) {
      return ask(ctx, PATH, { name: visitor.person.name, notice: 'again' });
    }
    const acting = asPerson(server, visitor.person.id, ctx);
    const ended = await ending(acting, visitor, form.get('id') ?? '');
    if (ended === 'nothing') {
      noteLate(ctx);
      return showAccount(ctx, visitor, 404, 'gone');
    }
    noteDone(ctx);
    if (isEndedPart(ended)) {
      return seeOther(ctx, doneNotes.address(ctx, PATH, ended));
    }
    await signOutVisitor(ctx, visitor);
    if (ended === 'this browser') return answerSignedOut(ctx, server, visitor.person.id);
    const untold = await untoldApplications(server.stores, visitor.person.id);
    answerWith(ctx, everythingEndedPage(viewOf(ctx), { ...ended, untold, again: PATH }));
  }

  /** Makes a link with which a browser makes a key for the person. */
  async function link(ctx: Context): Promise<void> {
    const form = await checkForm(ctx);
    const visitor = await currentVisitor(ctx);
    if (visitor === undefined) return ask(ctx, PATH);
    const { person, signIn } = visitor;
    if (!isRecent(visitor, server)) return ask(ctx, PATH, { name: person.name, notice: 'again' });
    const origin = form.get('origin') ?? '';
    if (!keyOrigins.includes(origin)) throw new PageError(400, 'request', { back: TO_ACCOUNT });
    const invited = { person: person.id, acr: signIn.assurance.acr, signIn: signIn.uid };
    const made = await invitations.invite(invited, origin);
    answerWith(ctx, keyLinkPage(viewOf(ctx, person), { link: made, back: PATH }));
  }

  async function showAccount(
    ctx: Context,
    visitor: Visitor,
    status: number,
    ended?: AccountProps['ended'],
  ): Promise<void> {
    const { person } = visitor;
    const view = viewOf(ctx, person);
    const asked = askedIn(ctx.querystring);
    const isOverview = asked.group === undefined;
    const [untold, lists, starts, passkeys, record, factor, keys, entries] = await Promise.all([
      ended === undefined || ended === 'gone' ? [] : untoldApplications(stores, person.id),
      listsOf(server, visitor, asked, view.language),
      isOverview ? startsOf(server, person, view.language) : [],
      stores.passkeys.of(person.id),
      stores.people.get(person.id),
      stores.secondFactors.get(person.id),
      stores.publicKeys.of({ kind: 'person', id: person.id }),
      isOverview ? newestActivity(server, person.id, view.language) : [],
    ]);
    const answer = accountPage(view, {
      name: person.name,
      ...(config.mail && { addresses: ADDRESSES_PATH }),
      ...(person.profile && { profile: person.profile }),
      starts,
      lists,
      activity: { entries, all: ACTIVITY_PATH },
      ways: {
        hasPassword: record?.password_hash !== undefined,
        passkeys: passkeys.length,
        ...(server.sources.size > 0 && { accountsElsewhere: identitiesOf(record ?? {}).length }),
        ...(config.people.secondFactor !== 'off' && { hasSecondFactor: factor !== undefined }),
        ...(factor && { codesLeft: factor.recovery.length }),
      },
      keys: keys.map(({ id, name, scheme, origin, created_at: since, used_at: lastUse }) =>
        Object.assign(
          { id, name, scheme, since },
          origin !== undefined && { origin },
          lastUse !== undefined && { lastUse },
        ),
      ),
      keyOrigins,
      link: KEY_PATH,
      data: DATA_PATH,
      ...(ended && { ended, untold }),
      ...(record?.admin && { admin: ADMIN_PATH }),
    });
    answerWith(ctx, { ...answer, status });
  }

  return { show, ask: askFirst, end, link };
}
