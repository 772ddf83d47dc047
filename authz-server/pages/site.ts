import type Provider from 'oidc-provider';
import { Router } from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import { REGISTRATION_PATH } from '#shared/people/registration.ts';
import type { Endpoint } from '#shared/server/endpoints/endpoint.ts';
import { note, shownId } from '#shared/server/message/request-log.ts';
import { ACTIVITY_PATH, activityHandler } from './activity/activity.ts';
import { homePage } from './home.ts';
import { ADDRESS_PATH } from '#shared/people/address-links.ts';
import { ADDRESSES_PATH, addressHandlers } from './addresses/addresses.ts';
import { accountHandlers } from './account.ts';
import { DATA_PATH, dataHandlers, FILE_PATH, REMOVAL_PATH } from './own-data/data.ts';
import { removalHandlers } from './own-data/removal.ts';
import { adminHandlers } from './admin/admin.ts';
import { ADMIN_PATH } from './admin/admission.ts';
import { SEARCH_PATH } from './admin/navigation.ts';
import { deviceHandlers } from './device/device.ts';
import { gnapHandlers } from './gnap/interact.ts';
import { interactionHandlers } from './interaction/interaction.ts';
import { passkeyHandlers } from './passkeys/passkeys.ts';
import { changePasswordHandlers } from './password/change-password.ts';
import { FORGOTTEN_PATH, forgottenHandlers } from './password/forgotten.ts';
import { recoverHandlers } from './password/recover.ts';
import { errorProps, PageError } from './frame/page-error.ts';
import { ENDPOINTS } from '../base/endpoints.ts';
import type { PagesServer } from '../base/server.ts';
import { answerWith, seeOther } from './frame/respond.ts';
import { ASK_PATH, askToRegisterHandlers } from './registration/ask.ts';
import { registerHandlers } from './registration/register.ts';
import { createSameBrowser } from './frame/same-browser.ts';
import { secondFactorHandlers } from './second-factor/second-factor.ts';
import { leaveOutUnregistered } from './sign-in/after-sign-out.ts';
import { createSignIn } from './sign-in/sign-in.ts';
import { signOutHandlers } from './sign-in/sign-out.ts';
import { frameOf } from './frame/view-of.ts';
import { errorPage } from './views/error.ts';
import { TO_ACCOUNT } from './frame/way-back.ts';
import { createSentAgain } from './sent-again.ts';
import { linkedHandlers } from './sources/linked.ts';
import { LINKED_PATH } from './sources/offers.ts';
import { sourceLogout } from './sources/source-logout.ts';
import { sourceHandlers } from './sources/with-source.ts';
import { callbackPath, logoutPath, startPath } from '../sources/sources.ts';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { IncomingMessage } from 'node:http';

type Pages = ReturnType<Router['routes']>;

/** URL paths for programs. They have no pages, so their requests need not be compared with each route of the pages. */
const PROGRAMS: ReadonlySet<string> = new Set(
  Object.entries<Endpoint>(ENDPOINTS).flatMap(([path, { program }]) => (program ? [path] : [])),
);

/** The pages for people. They come before the engine, whose routes are for programs. */
export function site(server: PagesServer, provider: Provider): Pages {
  const interaction = interactionHandlers(server, provider);
  const { signIn, arrive: arriveHere } = createSignIn(server, provider);
  const { ask, signOut } = signOutHandlers(server, provider);
  const account = accountHandlers(server, provider);
  const data = dataHandlers(server, provider);
  const password = changePasswordHandlers(server, provider);
  const recovery = recoverHandlers(server);
  const passkeys = passkeyHandlers(server, provider);
  const secondFactor = secondFactorHandlers(server, provider);
  const admin = adminHandlers(server, provider);
  const device = deviceHandlers(server, provider);
  const { checkResume } = createSameBrowser(server, provider);
  const sentAgain = createSentAgain(server, provider);
  const homes = { en: homePage(server.config, 'en'), de: homePage(server.config, 'de') };

  const routes: readonly Route[] = [
    ['GET', '/', (ctx) => answerWith(ctx, homes[frameOf(server, ctx.req).language])],
    ['GET', '/logo', logo(server)],
    ['GET', '/account', account.show],
    ['POST', '/account', sentAgain.form(account.end)],
    ['GET', '/account/end', account.ask],
    ['GET', ACTIVITY_PATH, activityHandler(server, provider)],
    ['GET', DATA_PATH, data.show],
    ['GET', FILE_PATH, data.download],
    ...(server.config.people.removeThemselves
      ? removalRoutes(removalHandlers(server, provider), sentAgain)
      : []),
    ['GET', '/account/passkeys', passkeys.show],
    ['POST', '/account/passkeys', sentAgain.form(passkeys.change)],
    ['GET', '/account/key', (ctx) => seeOther(ctx, '/account')],
    ['POST', '/account/key', account.link],
    ['GET', '/account/second-factor', secondFactor.show],
    ['POST', '/account/second-factor', sentAgain.form(secondFactor.change)],
    ['GET', '/account/password', password.show],
    ['POST', '/account/password', sentAgain.form(password.change)],
    // A Well-Known URL for Changing Passwords (W3C).
    ['GET', '/.well-known/change-password', (ctx) => seeOther(ctx, '/account/password')],
    ...(server.config.mail ? forgottenRoutes(forgottenHandlers(server)) : []),
    ...(server.config.mail ? addressRoutes(addressHandlers(server, provider), sentAgain) : []),
    ...registrationRoutes(server, sentAgain),
    ['GET', '/recover/:secret', recovery.show],
    ['POST', '/recover/:secret', sentAgain.form(recovery.recover)],
    ['GET', ADMIN_PATH, admin.home],
    ['GET', SEARCH_PATH, admin.search],
    ['GET', `${ADMIN_PATH}/:operation`, admin.show],
    ['POST', `${ADMIN_PATH}/:operation`, admin.change],
    ['GET', '/sign-in', arriveHere],
    ...(server.sources.size > 0 ? sourceRoutes(server, provider, sentAgain) : []),
    ['POST', '/sign-in', sentAgain.form(signIn)],
    ['GET', '/sign-out', ask],
    ['POST', '/sign-out', signOut],
    ['GET', '/device', device.enter],
    ['POST', '/device', sentAgain.form(device.decide)],
    ['GET', '/interaction/:uid', interaction.show],
    ['GET', '/interaction/:uid/login', interaction.arrive],
    // The URL in the address bar after a refused form.
    ['GET', '/interaction/:uid/:step', (ctx) => seeOther(ctx, `/interaction/${ctx['params'].uid}`)],
    ['POST', '/interaction/:uid/login', interaction.signIn],
    ['POST', '/interaction/:uid/account', interaction.select],
    ['POST', '/interaction/:uid/consent', interaction.consent],
    ['POST', '/interaction/:uid/abort', interaction.abort],
    ...(server.config.gnap ? gnapRoutes(gnapHandlers(server, provider), sentAgain) : []),
    // These routes come before those of the engine.
    ['GET', '/auth/:uid', checkResume],
    ['GET', '/session/end', leaveOutUnregistered(provider)],
    ['POST', '/auth', formToQuery],
    ['POST', '/session/end', formToQuery],
  ];
  const router = new Router();
  router.use(errorPages(server, provider));
  for (const [method, path, handler] of routes) router.register(path, [method], handler);
  const pages = router.routes();
  return (ctx, next) => (PROGRAMS.has(ctx.path) ? next() : pages(ctx, next));
}

type Route = readonly [method: string, path: string, handler: Middleware];

const forgottenRoutes = ({
  show,
  send,
}: ReturnType<typeof forgottenHandlers>): readonly Route[] => [
  ['GET', FORGOTTEN_PATH, show],
  ['POST', FORGOTTEN_PATH, send],
];

type SentAgain = ReturnType<typeof createSentAgain>;

const removalRoutes = (
  { show, remove }: ReturnType<typeof removalHandlers>,
  { form }: SentAgain,
): readonly Route[] => [
  ['GET', REMOVAL_PATH, show],
  ['POST', REMOVAL_PATH, form(remove)],
];

const addressRoutes = (
  { show, send, open, confirm }: ReturnType<typeof addressHandlers>,
  { form }: SentAgain,
): readonly Route[] => [
  ['GET', ADDRESSES_PATH, show],
  ['POST', ADDRESSES_PATH, send],
  ['GET', `${ADDRESS_PATH}:secret`, open],
  ['POST', `${ADDRESS_PATH}:secret`, form(confirm)],
];

function registrationRoutes(server: PagesServer, { form }: SentAgain): readonly Route[] {
  const link = registerHandlers(server);
  const asked = server.config.people.registration === 'open' && askToRegisterHandlers(server);
  return [
    ...(asked
      ? ([
          ['GET', ASK_PATH, asked.show],
          ['POST', ASK_PATH, asked.send],
        ] as const)
      : []),
    ['GET', `${REGISTRATION_PATH}:secret`, link.show],
    ['POST', `${REGISTRATION_PATH}:secret`, form(link.register)],
  ];
}

function sourceRoutes(
  server: PagesServer,
  provider: Provider,
  { form }: SentAgain,
): readonly Route[] {
  const { start, callback } = sourceHandlers(server, provider);
  const linked = linkedHandlers(server, provider);
  return [
    ['GET', startPath(':source'), start],
    ['GET', callbackPath(':source'), callback],
    ['POST', logoutPath(':source'), sourceLogout(server)],
    ['GET', LINKED_PATH, linked.show],
    ['POST', LINKED_PATH, form(linked.change)],
  ];
}

const gnapRoutes = (
  { show, decide, isTaken }: ReturnType<typeof gnapHandlers>,
  { decision }: SentAgain,
): readonly Route[] => [
  ['GET', '/gnap/interact/:uid', decision(show, isTaken)],
  ['POST', '/gnap/interact/:uid', decision(decide, isTaken)],
];

/** Turns errors of a page into the error page. Errors in our own code go to the log. */
function errorPages(server: PagesServer, provider: Provider): Middleware {
  return async (ctx: Context, next: Next) => {
    try {
      await next();
    } catch (error) {
      const props = { back: TO_ACCOUNT, ...errorProps(error) };
      note(ctx.req, { reason: error instanceof Error ? error.message : props.kind });
      if (props.status === 500) provider.emit('server_error', ctx, error);
      if (props.status === 503) ctx.set('Retry-After', '1');
      answerWith(ctx, errorPage(frameOf(server, ctx.req), { ...props, id: shownId(ctx.req) }));
    }
  };
}

const TYPES: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png' };

/**
 * The operator's logo (`brand.logo`). Its headers keep scripts in the picture from running if a person opens it by
 * itself.
 */
function logo({ config }: Pick<PagesServer, 'config'>): Middleware {
  const { logo: file } = config.brand;
  return async (ctx) => {
    const picture = file === undefined ? undefined : await readFile(file).catch(() => undefined);
    if (picture === undefined) throw new PageError(404, 'not-found');
    answerWith(ctx, {
      status: 200,
      fields: {
        'Content-Type': TYPES[extname(file ?? '')] ?? '',
        'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'public, max-age=300',
      },
    });
    ctx.body = picture;
  };
}

/** The most bytes of such a form: as a query it must fit into a request line. */
const LONGEST = 8192;

/**
 * Authorization and logout requests may come as a form by POST (OpenID Connect Core 1.0 section 3.1.2.1,
 * RP-Initiated Logout 1.0 section 2). From another site that POST comes without our cookies, which are
 * SameSite=Lax; the GET that it is turned into has them.
 */
const formToQuery: Middleware = async (ctx) => {
  if (ctx.is('application/x-www-form-urlencoded') === false) throw new PageError(415, 'request');
  const form = await readForm(ctx.req).catch(() => undefined);
  if (form === undefined) {
    ctx.set('Connection', 'close');
    throw new PageError(413, 'request');
  }
  seeOther(ctx, `${ctx.path}?${form}`);
};

/** Returns the form as an encoded query. Undefined: it is too long. Rejects if the request was cut off. */
async function readForm(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  // The stream stays open, so that a refusal can still be sent.
  const content: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of content) {
    length += chunk.length;
    if (length > LONGEST) return undefined;
    chunks.push(chunk);
  }
  const query = new URLSearchParams(Buffer.concat(chunks).toString()).toString();
  return query.length > LONGEST ? undefined : query;
}
