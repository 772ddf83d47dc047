import type { Context, Middleware } from 'koa';
import { admittedBy } from '#shared/config/production.ts';
import { administratorNow } from '#shared/people/administrator-now.ts';
import { judgePassword } from '#shared/people/password-rules.ts';
import {
  createRegistrationLinks,
  isOfFirst,
  judgeName,
  type NewAccount,
  register,
  type Registration,
  REGISTRATION_PATH,
} from '#shared/people/registration.ts';
import type { Rate } from '#shared/stores/limits/limits.ts';
import { asHolder } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import { createCsrf } from '../frame/csrf.ts';
import { PageError } from '../frame/page-error.ts';
import { answerWith, noteDone, noteLate } from '../frame/respond.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { answerIn, createRegistration } from '../passkeys/registration.ts';
import { reservedNames } from './reserved-names.ts';
import { createKnownBrowser } from '../sign-in/known-browser.ts';
import { textsOf } from '../texts/index.ts';
import { programName } from '../views/program.ts';
import {
  registeredPage,
  registerPage,
  registrationGonePage,
  type RegisterProps,
} from '../views/registration.ts';

/** The limit of names to try with one link: more would reveal which people have accounts. */
const TRIES: Rate = { burst: 20, per: 60 };

/** The way to sign in that the person chose. */
type Way = Pick<NewAccount, 'password' | 'passkey'>;

/**
 * The page of a link with which a person makes an account. Mail scanners that open every link do not use it up: only a
 * free name with a password or a passkey does. The link signs in no person.
 */
export function registerHandlers(
  server: PagesServer,
): Readonly<Record<'show' | 'register', Middleware>> {
  const links = createRegistrationLinks(server);
  const { checkForm } = createCsrf(server);
  const passkeys = createRegistration(server);
  const viewOf = createViewOf(server);
  const browsers = createKnownBrowser(server);
  const reserved = reservedNames(server.config);
  const secretOf = (ctx: Context) => ctx.path.slice(REGISTRATION_PATH.length);

  /**
   * Returns the registration that the link allows, if the configuration still allows it or there is no administrator
   * yet.
   */
  async function find(ctx: Context): Promise<Registration | undefined> {
    const registration = await links.find(secretOf(ctx));
    if (registration === undefined) return undefined;
    const { registration: open } = server.config.people;
    if (!isOfFirst(registration)) {
      return open === 'open' || (open === 'invited' && !registration.asked)
        ? registration
        : undefined;
    }
    if ((await administratorNow(server.stores, admittedBy(server.config))) === undefined) {
      return registration;
    }
    await links.endFirst();
    return undefined;
  }

  function showForm(
    ctx: Context,
    { id, address }: Registration,
    more: Pick<RegisterProps, 'name' | 'problem'> = {},
  ): void {
    const view = viewOf(ctx);
    // The script of the page puts the name into the options that the person chooses.
    const options = passkeys.options({ id, name: address ?? '' }, view.csrf, []);
    const props = {
      action: ctx.path,
      ...(address !== undefined && { address }),
      ...(options !== undefined && { options }),
    };
    answerWith(ctx, registerPage(view, { ...props, ...more }));
  }

  const gone = (ctx: Context) => answerWith(ctx, registrationGonePage(viewOf(ctx)));
  /** Answers that the link was used, perhaps by the same form. */
  const late = (ctx: Context) => {
    noteLate(ctx);
    gone(ctx);
  };

  /** Checks the password, or the passkey, of a form. */
  async function wayIn(
    ctx: Context,
    { id }: Registration,
    form: URLSearchParams,
  ): Promise<Way | NonNullable<RegisterProps['problem']>> {
    if ((form.get('passkey') ?? '') === '') {
      const password = form.get('password') ?? '';
      const judged = await judgePassword(password);
      return 'fault' in judged ? { kind: judged.fault } : { password };
    }
    const checked = await passkeys.check(ctx, id, answerIn(form));
    if ('problem' in checked) return { kind: checked.problem };
    const texts = textsOf(viewOf(ctx).language);
    const label = programName(ctx.get('User-Agent'), texts) || texts.account.someBrowser;
    return { passkey: passkeys.record(id, checked.made, label) };
  }

  return {
    async show(ctx) {
      const registration = await find(ctx);
      if (registration === undefined) return gone(ctx);
      showForm(ctx, registration);
    },

    async register(ctx) {
      const form = await checkForm(ctx);
      const registration = await find(ctx);
      if (registration === undefined) return late(ctx);
      const typed = form.get('name') ?? '';
      const tried = await server.stores.limits.spend('registration-link', registration.id, TRIES);
      if (!tried.ok) throw new PageError(429, 'later');
      const again = (problem: NonNullable<RegisterProps['problem']>) =>
        showForm(ctx, registration, { name: typed, problem });
      const isFirst = isOfFirst(registration);
      const judged = await judgeName(server, typed, isFirst ? undefined : reserved);
      if ('fault' in judged) return again({ kind: judged.fault });
      const way = await wayIn(ctx, registration, form);
      if ('kind' in way) return again(way);
      const { name } = judged;
      // A newer link, or another request, may have used up this one meanwhile: there is one first administrator.
      if (isFirst && (await links.redeem(secretOf(ctx))) === undefined) return late(ctx);
      const outcome = await register(asHolder(server, ctx, registration.id), registration, {
        name,
        ...way,
      });
      // The passkey belongs to another account, which it would open instead.
      if (outcome === 'passkey') return again({ kind: 'failed' });
      if (outcome === 'taken') return again({ kind: 'taken' });
      if (outcome === 'gone') return late(ctx);
      if (!isFirst) await links.redeem(secretOf(ctx));
      // Remember the browser, so that its first sign-in sends no message to the person.
      browsers.remember(ctx, name);
      noteDone(ctx);
      answerWith(ctx, registeredPage(viewOf(ctx), { name, account: TO_ACCOUNT.href }));
    },
  };
}
