import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { BY_PASSWORD, BY_SECOND_FACTOR } from '#shared/people/access/assurance.ts';
import { createCsrf } from '../frame/csrf.ts';
import type { PagesServer } from '../../base/server.ts';
import { createAskForPasskey } from './ask-for-passkey.ts';
import { createAttempt } from './attempt-with.ts';
import { answerWith, noteDone, noteLate, seeOther } from '../frame/respond.ts';
import { createBrowserSessions } from './session.ts';
import { createViewOf } from '../frame/view-of.ts';
import { recoveryCodesPage } from '../views/recovery-codes.ts';
import { secondStepPage } from '../views/second-step.ts';
import { signInPage, type SignInProps } from '../views/sign-in.ts';
import { sourceLinks } from './source-links.ts';

/** The pages to which a person can continue after signing in without a client, and their parameters. */
const CONTINUE: ReadonlyMap<string, readonly string[]> = new Map([
  ['/account', []],
  ['/account/address', []],
  ['/account/data', []],
  ['/account/password', []],
  ['/account/passkeys', []],
  ['/account/remove', []],
  ['/account/second-factor', []],
  ['/account/sources', []],
  ['/device', ['user_code']],
]);
/** The pages of GNAP's requests. */
const INTERACTION = /^\/gnap\/interact\/[\w-]{1,64}$/;
/** The pages of links that confirm an address. */
const ADDRESS_LINK = /^\/account\/address\/[\w-]{1,64}$/;
/** The pages of administrators. Their query is kept: it fills in a form, and changes nothing by itself. */
const ADMIN = /^\/admin(?:\/[a-z-]{1,64})?$/;
/** The most characters of a query that is kept. */
const LONGEST_QUERY = 2048;

type More = Pick<
  SignInProps,
  'name' | 'problem' | 'notice' | 'client' | 'asks' | 'cancel' | 'since'
> & {
  /** The languages of the client's request. */
  readonly locales?: string | undefined;
};

export interface StandaloneSignIn {
  /**
   * Asks the person to sign in first. `goOn`: a path of `CONTINUE`, the page of a link or of a GNAP request, or a page
   * of administrators. If the request was a form of a person who is no longer signed in, the page says that nothing was
   * changed.
   */
  ask(ctx: Context, goOn: string, more?: More): void;
  /** POST /sign-in. */
  signIn: Middleware;
  /** GET /sign-in: signs in a person who comes back from a provider. */
  arrive: Middleware;
}

/** Signing in to our own pages. */
export function createSignIn(server: PagesServer, provider: Provider): StandaloneSignIn {
  const { config } = server;
  const { checkForm } = createCsrf(server);
  const { hasSession, signInVisitor } = createBrowserSessions(server, provider);
  const viewOf = createViewOf(server);
  const askForPasskey = createAskForPasskey(server);
  const attemptWith = createAttempt(server);
  const hasSecondFactors = config.people.secondFactor !== 'off';

  function show(ctx: Context, goOn: string, { locales, ...more }: More): void {
    const door = doorTo(checkedContinue(goOn, config.issuer), more.asks, locales);
    const view = viewOf(ctx, undefined, locales);
    const forgotten = config.mail && { forgotten: '/recover' };
    const register = config.people.registration === 'open' && { register: '/register' };
    const passkey = askForPasskey(ctx, view);
    answerWith(
      ctx,
      signInPage(view, {
        ...door,
        ...forgotten,
        ...register,
        ...passkey,
        hasSecondFactors,
        sources: sourceLinks(server, door.hidden.continue),
        ...more,
      }),
    );
  }

  async function signIn(ctx: Context, form: URLSearchParams): Promise<void> {
    const goOn = checkedContinue(form.get('continue') ?? '', config.issuer);
    // If a person changes the field `asks`, they are led through the set-up, or the next page asks them again.
    const asks = form.get('asks') === 'second-factor' ? 'second-factor' : undefined;
    const locales = form.get('ui_locales') ?? undefined;
    const attempt = await attemptWith(ctx, form, asks && BY_SECOND_FACTOR.acr);
    if ('problem' in attempt) {
      const name = form.get('name') ?? '';
      return show(ctx, goOn, { name, locales, ...(asks && { asks }), ...attempt });
    }
    if ('step' in attempt) {
      const props = { ...doorTo(goOn, asks, locales), ...attempt.step, again: goOn };
      return answerWith(ctx, secondStepPage(viewOf(ctx, undefined, locales), props));
    }
    const { person } = await signInVisitor(ctx, attempt);
    const { codes, means } = attempt;
    // A password form can be sent again: the password is then checked again.
    if (means.assurance !== BY_PASSWORD) noteDone(ctx);
    if (codes === undefined) return seeOther(ctx, goOn);
    answerWith(ctx, recoveryCodesPage(viewOf(ctx, person, locales), { codes, goOn }));
  }

  return {
    ask(ctx, goOn, more = {}) {
      const isLost = ctx.method === 'POST' && more.name === undefined;
      // The same form, sent before, may have ended this sign-in.
      if (isLost && hasSession(ctx)) noteLate(ctx);
      show(ctx, goOn, { ...(isLost && { notice: 'nothing-changed' }), ...more });
    },

    signIn: async (ctx) => signIn(ctx, await checkForm(ctx)),

    async arrive(ctx) {
      const query = new URLSearchParams(ctx.querystring);
      // HEAD is safe, so it must not use the ticket up (RFC 9110 section 9.2.1).
      if (!query.has('arrival') || ctx.method === 'HEAD') return seeOther(ctx, '/account');
      await signIn(ctx, query);
    },
  };
}

const doorTo = (goOn: string, asks?: SignInProps['asks'], locales?: string) => ({
  action: '/sign-in',
  hidden: { continue: goOn, ...(asks && { asks }), ...(locales && { ui_locales: locales }) },
  purpose: purposeOf(goOn),
});

const purposeOf = (goOn: string): NonNullable<SignInProps['purpose']> => {
  if (INTERACTION.test(goOn)) return 'access';
  if (goOn.startsWith('/admin')) return 'admin';
  return goOn.startsWith('/device') ? 'device' : 'account';
};

/** Returns a path of `CONTINUE` on this server, built again from its parts; /account for any other value. */
export function checkedContinue(goOn: string, issuer: string): string {
  const url = URL.parse(goOn, issuer);
  const own = url?.origin === issuer ? url.pathname : '';
  if (url !== null && ADMIN.test(own)) {
    return url.search.length > LONGEST_QUERY ? own : own + url.search;
  }
  const isPage = INTERACTION.test(own) || ADDRESS_LINK.test(own);
  const parameters = isPage ? [] : CONTINUE.get(own);
  if (url === null || parameters === undefined) return '/account';
  const query = new URLSearchParams(
    parameters.flatMap((name) => {
      const value = url.searchParams.get(name);
      return value === null ? [] : [[name, value] as [string, string]];
    }),
  );
  return query.size === 0 ? url.pathname : `${url.pathname}?${query.toString()}`;
}
