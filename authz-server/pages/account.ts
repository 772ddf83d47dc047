import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { endEverything } from '#shared/people/access/everything.ts';
import type { Ended } from '#shared/people/access/everything.ts';
import { endGrant, findAccess, listAccess } from '#shared/people/access/grants.ts';
import type { ListedAccess } from '#shared/people/access/grants.ts';
import { endSignIn, findSignIn, listSignIns } from '#shared/people/access/sign-ins.ts';
import { createInvitations } from '#shared/auth/schemes/hoba/invitations.ts';
import { hobaOrigins } from '#shared/config/hoba-origins.ts';
import { askedItems } from './interaction/asked.ts';
import { createCsrf } from './csrf.ts';
import { PageError } from './page-error.ts';
import type { PagesServer } from './pages-server.ts';
import { answerWith, seeOther } from './respond.ts';
import { createBrowserSessions } from './sign-in/session.ts';
import type { Visitor } from './sign-in/session.ts';
import { createSignIn } from './sign-in/sign-in.ts';
import type { AccountAccess, AccountProps, Language } from './view.ts';
import { createViewOf } from './view-of.ts';
import { accountPage } from './views/account.ts';
import { endEverythingPage, everythingEndedPage } from './views/end-everything.ts';
import { keyLinkPage } from './views/key-link.ts';
import { TO_ACCOUNT } from './way-back.ts';

const PATH = '/account';
const KEY_PATH = '/account/key';
/** As many sign-ins, and as many grants, as one page shows. */
const PAGE = 50;

/** The page where a person sees what is open in their name, and ends it. */
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
    const ending = ENDINGS.get(form.get('end') ?? '');
    if (ending === undefined) {
      throw new PageError(400, 'request', { back: TO_ACCOUNT });
    }
    const ended = await ending(server, visitor, form.get('id') ?? '');
    if (ended === 'nothing') return showAccount(ctx, visitor, 404);
    if (ended === 'sign-in' || ended === 'access' || ended === 'key') {
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
    const [signIns, accesses, keys] = await Promise.all([
      listSignIns(server, person.id, slice),
      listAccess(server, person.id, slice),
      stores.publicKeys.of({ kind: 'person', id: person.id }),
    ]);
    const listed = (some: readonly ListedAccess[]) =>
      Promise.all(some.map((access) => inWords(server, access, view.language)));
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
      applications: await listed(accesses.filter(({ device }) => device === undefined)),
      devices: await listed(accesses.filter(({ device }) => device !== undefined)),
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

type Ending = 'sign-in' | 'access' | 'key' | 'this browser' | 'nothing' | Ended;

/** What the form's `end` may say; only what belongs to the visitor is found, and ended. */
const ENDINGS: ReadonlyMap<
  string,
  (server: PagesServer, visitor: Visitor, id: string) => Promise<Ending>
> = new Map([
  ['sign-in', endOneSignIn],
  ['access', endOneAccess],
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

/** What the address says after something was ended. */
function endedIn(querystring: string): AccountProps['ended'] {
  const ended = new URLSearchParams(querystring).get('ended');
  return ended === 'sign-in' || ended === 'access' || ended === 'key' ? ended : undefined;
}

/** In words; a client that was removed is named by its id. */
async function inWords(
  { config, stores }: PagesServer,
  { grantId, clientId, scopes, since, lastIssue, device }: ListedAccess,
  language: Language,
): Promise<AccountAccess> {
  const client = await stores.clients.get(clientId);
  const items = Object.entries(scopes).flatMap(([resource, granted]) => {
    const scope = granted.join(' ');
    return askedItems(config, { scope }, { scope, resource }, language);
  });
  return {
    id: grantId,
    client: client?.client_name ?? clientId,
    items: [...new Set(items.map(({ text }) => text))],
    since,
    ...(lastIssue !== undefined && { lastIssue }),
    ...device,
  };
}
