import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { BY_SECOND_FACTOR } from '#shared/people/access/assurance.ts';
import { isEnough, mustHaveSecondFactor } from '#shared/people/second-factor/need.ts';
import { shownRecoveryCode } from '#shared/people/second-factor/recovery-codes.ts';
import { newSecret, renewRecoveryCodes } from '#shared/people/second-factor/second-factor.ts';
import type { PagesServer } from '../../base/server.ts';
import { notify } from '#shared/mail/notify.ts';
import { createCsrf } from '../frame/csrf.ts';
import { expired, PageError } from '../frame/page-error.ts';
import { answerWith, seeOther } from '../frame/respond.ts';
import type { SecondFactorProblem } from '../frame/view.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { payForCode } from '../sign-in/code-limit.ts';
import { isRecent } from '../sign-in/recent.ts';
import { createBrowserSessions, type Visitor } from '../sign-in/session.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import { createStepState } from '../sign-in/step-state.ts';
import { recoveryCodesPage } from '../views/recovery-codes.ts';
import { secondFactorPage } from '../views/second-factor.ts';
import { newSecondFactor } from '../sign-in/new-second-factor.ts';
import { createSetUp } from '../sign-in/set-up.ts';

const PATH = '/account/second-factor';
const BACK = TO_ACCOUNT.href;

/** The page where a person sets a second factor up, gets new recovery codes, or removes it. */
export function secondFactorHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'show' | 'change', Middleware>> {
  const { config, stores, random } = server;
  const rule = config.people.secondFactor;
  const { checkForm } = createCsrf(server);
  const { currentVisitor, signInVisitor } = createBrowserSessions(server, provider);
  const { ask } = createSignIn(server, provider);
  const { write, read } = createStepState(server);
  const setUp = createSetUp(server);
  const viewOf = createViewOf(server);

  /** Undefined: the answer asks to sign in. A change of a way to sign in needs a sign-in of the last minutes. */
  async function changerOf(ctx: Context): Promise<Visitor | undefined> {
    if (rule === 'off') throw new PageError(404, 'not-found', { back: TO_ACCOUNT });
    const visitor = await currentVisitor(ctx);
    if (visitor && isRecent(visitor, server.clock) && (await hasShownIt(visitor))) return visitor;
    ask(ctx, PATH, visitor && { name: visitor.person.name, notice: 'again' });
    return undefined;
  }

  /** A sign-in that was in flight as the person's second factor was set up changes nothing. */
  const hasShownIt = async ({ person, signIn }: Visitor) =>
    isEnough('required', undefined, signIn.assurance?.acr) ||
    (await stores.secondFactors.get(person.id)) === undefined;

  async function showTo(
    ctx: Context,
    { person, signIn }: Visitor,
    { removed = false }: { readonly removed?: boolean } = {},
  ): Promise<void> {
    const factor = await stores.secondFactors.get(person.id);
    const frame = { action: PATH, back: BACK, removed };
    if (factor !== undefined) {
      const required = mustHaveSecondFactor(rule, person.profile?.groups);
      const { created_at: since, recovery } = factor;
      const props = { ...frame, since, left: recovery.length, required };
      return answerWith(ctx, secondFactorPage(viewOf(ctx, person), props));
    }
    const { id: accountId, name } = person;
    const secret = newSecret(random).toString('base64url');
    const state = write(ctx, { accountId, name, generation: signIn.generation, secret });
    const props = { ...frame, setUp: newSecondFactor(config, name, secret), state };
    answerWith(ctx, secondFactorPage(viewOf(ctx, person), props));
  }

  const showCodes = (ctx: Context, { person }: Visitor, codes: readonly string[]) =>
    answerWith(ctx, recoveryCodesPage(viewOf(ctx, person), { codes, goOn: BACK }));

  /** The values of the form's `change`. */
  const CHANGES: ReadonlyMap<
    string,
    (ctx: Context, visitor: Visitor, form: URLSearchParams) => Promise<void>
  > = new Map([
    [
      'set-up',
      async (ctx, visitor, form) => {
        const { person, signIn } = visitor;
        const sealed = form.get('step') ?? '';
        const state = read(ctx, sealed);
        if (state?.secret === undefined || state.accountId !== person.id) {
          throw expired(TO_ACCOUNT);
        }
        const { secret } = state;
        const again = (problem: SecondFactorProblem) => {
          const shown = { setUp: newSecondFactor(config, person.name, secret), state: sealed };
          const props = { action: PATH, back: BACK, ...shown, problem };
          answerWith(ctx, secondFactorPage(viewOf(ctx, person), props));
        };
        const paid = await payForCode(server, person.id);
        if (!paid.ok) return again({ kind: 'later', seconds: paid.retryAfter });
        const typed = form.get('code') ?? '';
        const made = await setUp(
          { accountId: person.id, generation: signIn.generation },
          Buffer.from(secret, 'base64url'),
          typed,
        );
        if (made === false) return again({ kind: 'wrong' });
        if (made === 'over') throw expired(TO_ACCOUNT, 409);
        await paid.giveBack();
        await notify(server, person.id, 'second-factor-set-up', viewOf(ctx).language);
        // All sign-ins have ended, this one too. A passkey stays more than a code.
        const { assurance, passkey } = signIn;
        const means =
          passkey === undefined || assurance === undefined
            ? { assurance: BY_SECOND_FACTOR }
            : { assurance, passkey };
        const shown = { person: { ...person, generation: made.generation }, means };
        showCodes(ctx, await signInVisitor(ctx, shown), made.codes);
      },
    ],
    [
      'renew',
      async (ctx, visitor) => {
        const codes = await renewRecoveryCodes(server, visitor.person.id);
        if (codes === undefined) return seeOther(ctx, PATH);
        await notify(server, visitor.person.id, 'recovery-codes-renewed', viewOf(ctx).language);
        showCodes(ctx, visitor, codes.map(shownRecoveryCode));
      },
    ],
    [
      'remove',
      async (ctx, visitor) => {
        if (mustHaveSecondFactor(rule, visitor.person.profile?.groups)) {
          throw new PageError(403, 'request', { back: TO_ACCOUNT });
        }
        if (await stores.secondFactors.remove(visitor.person.id)) {
          const { language } = viewOf(ctx);
          await notify(server, visitor.person.id, 'second-factor-removed', language);
        }
        await showTo(ctx, visitor, { removed: true });
      },
    ],
  ]);

  return {
    async show(ctx) {
      const visitor = await changerOf(ctx);
      if (visitor) await showTo(ctx, visitor);
    },

    async change(ctx) {
      const form = await checkForm(ctx);
      const visitor = await changerOf(ctx);
      if (visitor === undefined) return;
      const change = CHANGES.get(form.get('change') ?? '');
      if (change === undefined) throw new PageError(400, 'request', { back: TO_ACCOUNT });
      await change(ctx, visitor, form);
    },
  };
}
