import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { endEverything } from '#shared/people/access/everything.ts';
import type { Ended } from '#shared/people/access/everything.ts';
import { endApplication } from '#shared/people/access/applications.ts';
import { listConsents } from '#shared/people/access/consents.ts';
import type { Consent } from '#shared/people/access/consents.ts';
import { endGrant, findAccess, listAccess } from '#shared/people/access/grants.ts';
import type { ListedAccess } from '#shared/people/access/grants.ts';
import { endSignIn, findSignIn, listSignIns } from '#shared/people/access/sign-ins.ts';
import { createInvitations } from '#shared/auth/schemes/hoba/invitations.ts';
import { hobaOrigins } from '#shared/config/hoba-origins.ts';
import { isSignInClient } from '#shared/config/sign-in-clients.ts';
import { itemsInWords } from './interaction/asked.ts';
import { createCsrf } from './frame/csrf.ts';
import { PageError } from './frame/page-error.ts';
import type { PagesServer } from '../base/server.ts';
import { answerWith, seeOther } from './frame/respond.ts';
import { createBrowserSessions } from './sign-in/session.ts';
import type { Visitor } from './sign-in/session.ts';
import { createSignIn } from './sign-in/sign-in.ts';
import { isRecent } from './sign-in/recent.ts';
import type { AccountApplication, AccountProps, Language } from './frame/view.ts';
import { textsOf } from './texts/index.ts';
import { createViewOf } from './frame/view-of.ts';
import { accountPage } from './views/account.ts';
import { endEverythingPage, everythingEndedPage } from './views/end-everything.ts';
import { keyLinkPage } from './views/key-link.ts';
import { TO_ACCOUNT } from './frame/way-back.ts';

const PATH = '/account';
const KEY_PATH = '/account/key';
/** The number of sign-ins, and of grants, that one page shows. */
const PAGE = 50;

/** The page where a person sees what is open in their name, and ends it. */
export function accountHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'show' | 'ask' | 'end' | 'link', Middleware>> {
  const { clock, config, stores } = server;
  const invitations = createInvitations(server);
  const keyOrigins = hobaOrigins(config);
  const { checkForm } = createCsrf(server);
  const { currentVisitor, signOutVisitor } = createBrowserSessions(server, provider);
  const { ask } = createSignIn(server, provider);
  const viewOf = createViewOf(server);

  async function show(ctx: Context): Promise<void> {
    const visitor = await currentVisitor(ctx);
    if (visitor === undefined) return ask(ctx, PATH);
    await showAccount(ctx, visitor, 200, endedIn(ctx.querystring));
  }

  /** Before everything is ended. */
  async function askFirst(ctx: Context): Promise<void> {
    const visitor = await currentVisitor(ctx);
    if (visitor === undefined) return ask(ctx, PATH);
    answerWith(ctx, endEverythingPage(viewOf(ctx, visitor.person), { action: PATH, back: PATH }));
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
    if (what === 'key' && !isRecent(visitor, clock)) {
      return ask(ctx, PATH, { name: visitor.person.name, notice: 'again' });
    }
    const ended = await ending(server, visitor, form.get('id') ?? form.get('client') ?? '');
    if (ended === 'nothing') return showAccount(ctx, visitor, 404);
    if (isEndedPart(ended)) {
      return seeOther(ctx, `${PATH}?ended=${ended}`);
    }
    await signOutVisitor(ctx, visitor);
    if (ended === 'this browser') return seeOther(ctx, '/sign-out');
    answerWith(ctx, everythingEndedPage(viewOf(ctx), { ...ended, again: PATH }));
  }

  /** A link by which a browser is given a key. */
  async function link(ctx: Context): Promise<void> {
    const form = await checkForm(ctx);
    const visitor = await currentVisitor(ctx);
    if (visitor === undefined) return ask(ctx, PATH);
    const { person } = visitor;
    if (!isRecent(visitor, clock)) return ask(ctx, PATH, { name: person.name, notice: 'again' });
    const origin = form.get('origin') ?? '';
    if (!keyOrigins.includes(origin)) throw new PageError(400, 'request', { back: TO_ACCOUNT });
    const made = await invitations.invite(person.id, origin);
    answerWith(ctx, keyLinkPage(viewOf(ctx, person), { link: made, back: PATH }));
  }

  async function showAccount(
    ctx: Context,
    { person, signIn }: Visitor,
    status: number,
    ended?: AccountProps['ended'],
  ): Promise<void> {
    const view = viewOf(ctx, person);
    const counts = await Promise.all(
      ['SignIn', 'Access'].map((kind) => stores.artefacts.countByAccount(kind, person.id)),
    );
    const pages = Math.ceil(Math.max(1, ...counts) / PAGE);
    const page = Math.min(pageIn(ctx.querystring), pages);
    const slice = { skip: (page - 1) * PAGE, count: PAGE };
    const [signIns, accesses, consents, keys] = await Promise.all([
      listSignIns(server, person.id, slice),
      listAccess(server, person.id, slice),
      page === 1 ? listConsents(server, person.id) : [],
      stores.publicKeys.of({ kind: 'person', id: person.id }),
    ]);
    const answer = accountPage(view, {
      action: PATH,
      name: person.name,
      ...(person.profile && { profile: person.profile }),
      signIns: signIns.map(({ uid, since, address, agent }) =>
        Object.assign(
          { id: uid, since, current: uid === signIn.uid },
          address !== undefined && { address },
          agent !== undefined && { agent },
        ),
      ),
      applications: await applicationsOf(server, accesses, consents, view.language),
      keys: keys.map(({ id, name, scheme, origin, created_at: since, used_at: lastUse }) =>
        Object.assign(
          { id, name, scheme, since },
          origin !== undefined && { origin },
          lastUse !== undefined && { lastUse },
        ),
      ),
      keyOrigins,
      link: KEY_PATH,
      ...(ended && { ended }),
      page,
      pages,
    });
    answerWith(ctx, { ...answer, status });
  }

  return { show, ask: askFirst, end, link };
}

type EndedPart = NonNullable<AccountProps['ended']>;
type Ending = EndedPart | 'this browser' | 'nothing' | Ended;

/** The values of the form's `end`. Each ending finds only grants, sessions and keys of the visitor. */
const ENDINGS: ReadonlyMap<
  string,
  (server: PagesServer, visitor: Visitor, id: string) => Promise<Ending>
> = new Map([
  ['sign-in', endOneSignIn],
  ['access', endOneAccess],
  ['application', endOneApplication],
  ['key', removeKey],
  ['everything', endAll],
]);

async function endOneSignIn(server: PagesServer, visitor: Visitor, id: string): Promise<Ending> {
  const signIn = await findSignIn(server, id);
  if (signIn?.accountId !== visitor.person.id) return 'nothing';
  await endSignIn(server, signIn);
  return signIn.uid === visitor.signIn.uid ? 'this browser' : 'sign-in';
}

async function endOneAccess(server: PagesServer, visitor: Visitor, id: string): Promise<Ending> {
  const access = await findAccess(server, id);
  if (access?.accountId !== visitor.person.id) return 'nothing';
  await endGrant(server, id);
  return 'access';
}

async function endOneApplication(
  server: PagesServer,
  { person }: Visitor,
  clientId: string,
): Promise<Ending> {
  return (await endApplication(server, person.id, clientId)) ? 'application' : 'nothing';
}

async function removeKey({ stores }: PagesServer, visitor: Visitor, id: string): Promise<Ending> {
  const owner = (await stores.publicKeys.get(id))?.owner;
  if (owner?.kind !== 'person' || owner.id !== visitor.person.id) return 'nothing';
  await stores.publicKeys.remove(id);
  return 'key';
}

async function endAll(server: PagesServer, { person }: Visitor): Promise<Ending> {
  return endEverything(server, person.id);
}

/** Which page the address asks for; the first when it says nothing that can be meant. */
function pageIn(querystring: string): number {
  const page = new URLSearchParams(querystring).get('page') ?? '';
  return /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1;
}

/** Reads from the query what was ended just before. */
function endedIn(querystring: string): AccountProps['ended'] {
  const ended = new URLSearchParams(querystring).get('ended');
  return isEndedPart(ended) ? ended : undefined;
}

const ENDED_PARTS: ReadonlySet<string> = new Set<EndedPart>([
  'sign-in',
  'application',
  'access',
  'key',
  'password',
  'others',
]);

const isEndedPart = (ended: unknown): ended is EndedPart =>
  typeof ended === 'string' && ENDED_PARTS.has(ended);

/** Each application once, the one that was used or allowed last first, with the grants of its browsers and devices. */
async function applicationsOf(
  { config, stores }: PagesServer,
  accesses: readonly ListedAccess[],
  consents: readonly Consent[],
  language: Language,
): Promise<readonly AccountApplication[]> {
  const { goneApplication } = textsOf(language).account;
  const grants = Map.groupBy(accesses, ({ clientId }) => clientId);
  const decisions = Map.groupBy(consents, ({ clientId }) => clientId);
  const ids = new Set([...grants.keys(), ...decisions.keys()]);
  const inWords = ([resource, granted]: [string, readonly string[]]) => {
    const items = granted.map((scope) => (resource === '' ? { scope } : { scope, resource }));
    return itemsInWords(config, items, language, () => []).map(({ text }) => text);
  };
  const listed = [...ids].map(async (id) => {
    const own = grants.get(id) ?? [];
    const scopes = [
      ...own.map((access) => access.scopes),
      ...(decisions.get(id) ?? []).map(({ allowed }) => allowed),
    ];
    return {
      id,
      // A client that an operator registered and removed is named by its id.
      name:
        (await stores.clients.get(id))?.client_name ?? (isSignInClient(id) ? goneApplication : id),
      items: [...new Set(scopes.flatMap((some) => Object.entries(some).flatMap(inWords)))],
      accesses: own.map(({ grantId, since, lastIssue, device, browser }) =>
        Object.assign(
          { id: grantId, since, isDevice: device !== undefined },
          lastIssue !== undefined && { lastIssue },
          device ?? browser,
        ),
      ),
    };
  });
  return Promise.all(listed);
}
