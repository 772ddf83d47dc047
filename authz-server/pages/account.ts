import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { endEverything } from '#shared/access/everything.ts';
import { endGrant, listAccess } from '#shared/access/grants.ts';
import type { ListedAccess } from '#shared/access/grants.ts';
import { endSignIn, listSignIns } from '#shared/access/sign-ins.ts';
import { askedItems } from './asked.ts';
import { createCsrf } from './csrf.ts';
import { PageError } from './page-error.ts';
import type { PagesServer } from './pages-server.ts';
import { respond, seeOther } from './respond.ts';
import { createSessions } from './session.ts';
import type { Visitor } from './session.ts';
import { createSignIn } from './sign-in.ts';
import type { AccountAccess, AccountProps, Language } from './view.ts';
import { createViewOf } from './view-of.ts';
import { accountPage } from './views/account.ts';
import { TO_ACCOUNT } from './way-back.ts';

const PATH = '/account';

/** The page where a person sees what is open in their name, and ends it. */
export function accountHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'show' | 'end', Middleware>> {
  const { checkForm } = createCsrf(server);
  const { currentVisitor, signOutVisitor } = createSessions(server, provider);
  const { ask } = createSignIn(server, provider);
  const viewOf = createViewOf(server);

  async function show(ctx: Context): Promise<void> {
    const visitor = await currentVisitor(ctx);
    if (visitor === undefined) return ask(ctx, PATH);
    await showAccount(ctx, visitor, 200, endedIn(ctx.querystring));
  }

  async function end(ctx: Context): Promise<void> {
    const form = await checkForm(ctx);
    const visitor = await currentVisitor(ctx);
    if (visitor === undefined) return ask(ctx, PATH);
    const ending = ENDINGS.get(form.get('end') ?? '');
    if (ending === undefined) {
      throw new PageError(400, 'request', { back: TO_ACCOUNT });
    }
    const ended = await ending(server, visitor, form.get('id') ?? '');
    if (ended === 'nothing') return showAccount(ctx, visitor, 404);
    if (ended !== 'this browser') return seeOther(ctx, `${PATH}?ended=${ended}`);
    await signOutVisitor(ctx, visitor);
    seeOther(ctx, '/sign-out');
  }

  async function showAccount(
    ctx: Context,
    { person, signIn }: Visitor,
    status: number,
    ended?: AccountProps['ended'],
  ): Promise<void> {
    const view = viewOf(ctx, person);
    const [signIns, accesses] = await Promise.all([
      listSignIns(server, person.id),
      listAccess(server, person.id),
    ]);
    const listed = (some: readonly ListedAccess[]) =>
      Promise.all(some.map((access) => inWords(server, access, view.language)));
    const page = accountPage(view, {
      action: PATH,
      name: person.name,
      signIns: signIns.map(({ uid, since, address, agent }) =>
        Object.assign(
          { id: uid, since, current: uid === signIn.uid },
          address !== undefined && { address },
          agent !== undefined && { agent },
        ),
      ),
      applications: await listed(accesses.filter(({ device }) => device === undefined)),
      devices: await listed(accesses.filter(({ device }) => device !== undefined)),
      ...(ended && { ended }),
    });
    respond(ctx, { ...page, status });
  }

  return { show, end };
}

type Ended = 'sign-in' | 'access' | 'this browser' | 'nothing';

/** What the form's `end` may say; only what belongs to the visitor is found, and ended. */
const ENDINGS: ReadonlyMap<
  string,
  (server: PagesServer, visitor: Visitor, id: string) => Promise<Ended>
> = new Map([
  ['sign-in', endOneSignIn],
  ['access', endOneAccess],
  ['everything', endAll],
]);

async function endOneSignIn(server: PagesServer, visitor: Visitor, id: string): Promise<Ended> {
  const signIns = await listSignIns(server, visitor.person.id);
  const signIn = signIns.find(({ uid }) => uid === id);
  if (signIn === undefined) return 'nothing';
  await endSignIn(server, signIn);
  return signIn.uid === visitor.signIn.uid ? 'this browser' : 'sign-in';
}

async function endOneAccess(server: PagesServer, visitor: Visitor, id: string): Promise<Ended> {
  const accesses = await listAccess(server, visitor.person.id);
  if (!accesses.some(({ grantId }) => grantId === id)) return 'nothing';
  await endGrant(server, id);
  return 'access';
}

async function endAll(server: PagesServer, { person }: Visitor): Promise<Ended> {
  await endEverything(server, person.id);
  return 'this browser';
}

/** What the address says after something was ended. */
function endedIn(querystring: string): AccountProps['ended'] {
  const ended = new URLSearchParams(querystring).get('ended');
  return ended === 'sign-in' || ended === 'access' ? ended : undefined;
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
