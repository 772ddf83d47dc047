import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { BY_SECOND_FACTOR } from '#shared/people/access/assurance.ts';
import { isEnough, mustHaveSecondFactor } from '#shared/people/second-factor/need.ts';
import { shownRecoveryCode } from '#shared/people/second-factor/recovery-codes.ts';
import { renewRecoveryCodes } from '#shared/people/second-factor/second-factor.ts';
import { note } from '#shared/server/message/request-log.ts';
import { asPerson } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import { notify } from '#shared/mail/notify.ts';
import { createCsrf } from '../frame/csrf.ts';
import { expired, PageError } from '../frame/page-error.ts';
import { answerWith, noteDone, noteLate } from '../frame/respond.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { createCodeLimit } from '../sign-in/code-limit.ts';
import { createKnownBrowser } from '../sign-in/known-browser.ts';
import { createLastWay } from '../sign-in/last-way.ts';
import { isRecent } from '../sign-in/recent.ts';
import { createBrowserSessions, type Visitor } from '../sign-in/session.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import { createStepState, isClaimed } from '../sign-in/step-state.ts';
import { recoveryCodesPage, type RecoveryCodesProps } from '../views/recovery-codes.ts';
import { secondFactorPage, type SecondFactorProps } from '../views/second-factor.ts';
import { newSecondFactor } from '../sign-in/new-second-factor.ts';
import { markOf } from '../sign-in/other-ways.ts';
import { createSetUp } from '../sign-in/set-up.ts';
import { createSetUpSecret } from '../sign-in/set-up-secret.ts';
import type { SecondFactorProblem } from '../views/second-factor-fields.ts';

const PATH = '/account/second-factor';
const BACK = TO_ACCOUNT.href;

/** The page where a person sets a second factor up, gets new recovery codes, or removes it. */
export function secondFactorHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'show' | 'change', Middleware>> {
  const { config, stores } = server;
  const rule = config.people.secondFactor;
  const { checkForm } = createCsrf(server);
  const { currentVisitor, signInVisitor } = createBrowserSessions(server, provider);
  const { ask } = createSignIn(server, provider);
  const { write, read } = createStepState(server);
  const payForCode = createCodeLimit(server);
  const browsers = createKnownBrowser(server);
  const lastWay = createLastWay(server);
  const setUpFactor = createSetUp(server);
  const secretOf = createSetUpSecret(server);
  const viewOf = createViewOf(server);

  /**
   * Undefined: the answer asks the person to sign in. Changing a way to sign in needs a sign-in of the last five
   * minutes.
   */
  async function changerOf(ctx: Context): Promise<Visitor | undefined> {
    if (rule === 'off') throw new PageError(404, 'not-found', { back: TO_ACCOUNT });
    const visitor = await currentVisitor(ctx);
    if (visitor && isRecent(visitor, server) && (await hasShownIt(visitor))) return visitor;
    ask(ctx, PATH, visitor && { name: visitor.person.name, notice: 'again' });
    return undefined;
  }

  /**
   * Whether the sign-in used the second factor, if the person has one. A sign-in from before its set-up may not change
   * it.
   */
  const hasShownIt = async ({ person, signIn }: Visitor) =>
    isEnough('required', undefined, signIn.assurance.acr) ||
    (await stores.secondFactors.get(person.id)) === undefined;

  /** The members that every form of the page needs. */
  async function frameFor({ id }: Visitor['person']) {
    const hasPassword = (await stores.people.get(id))?.password_hash !== undefined;
    return { action: PATH, back: BACK, hasPassword };
  }

  /** Shows the state of a person's second factor. */
  async function showTo(
    ctx: Context,
    visitor: Visitor,
    notice?: SecondFactorProps['notice'],
  ): Promise<void> {
    const { person } = visitor;
    const factor = await stores.secondFactors.get(person.id);
    if (factor === undefined) return showSetUp(ctx, visitor, {}, notice && { notice });
    const required = mustHaveSecondFactor(rule, person.profile?.groups);
    const { created_at: since, recovery } = factor;
    const has = { since, left: recovery.length, required };
    const props = { ...(await frameFor(person)), ...(notice && { notice }), ...has };
    answerWith(ctx, secondFactorPage(viewOf(ctx, person), props));
  }

  /** Shows the secret of a new second factor. `replaces`: the second factor that it replaces, if any. */
  async function showSetUp(
    ctx: Context,
    { person, signIn: { generation } }: Visitor,
    { replaces }: { readonly replaces?: string | undefined },
    more: Pick<SecondFactorProps, 'notice' | 'problem'> = {},
  ): Promise<void> {
    const { id: accountId, name } = person;
    const step = { accountId, name, generation, ...(replaces !== undefined && { replaces }) };
    const secret = await secretOf(ctx, step);
    const setUp = await newSecondFactor(server, { accountId, name, secret });
    const state = write(ctx, { ...step, secret, ways: markOf(setUp.ways) });
    const shown = { setUp, state };
    const isAnother = replaces !== undefined;
    const props = { ...(await frameFor(person)), ...more, ...shown, isAnother };
    answerWith(ctx, secondFactorPage(viewOf(ctx, person), props));
  }

  const showCodes = (
    ctx: Context,
    { person }: Visitor,
    codes: readonly string[],
    more: Pick<RecoveryCodesProps, 'renewed'> = {},
  ) => {
    noteDone(ctx);
    answerWith(ctx, recoveryCodesPage(viewOf(ctx, person), { codes, goOn: BACK, ...more }));
  };

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
        const hasOne = (await stores.secondFactors.get(person.id)) !== undefined;
        if (hasOne && (await isClaimed(server, state))) {
          noteLate(ctx);
          return showTo(ctx, visitor, 'codes-shown');
        }
        const { secret, replaces } = state;
        const ticked = form.getAll('item');
        const refused = async (reason: string, problem: SecondFactorProblem) => {
          note(ctx.req, { reason: `second factor: ${reason}`, subject: person.id });
          const begun = { accountId: person.id, name: person.name, secret };
          const again = await newSecondFactor(server, begun, ticked);
          const shown = { setUp: again, state: sealed };
          const isAnother = replaces !== undefined;
          const props = { ...(await frameFor(person)), ...shown, isAnother, problem };
          answerWith(ctx, secondFactorPage(viewOf(ctx, person), props));
        };
        const typed = form.get('code') ?? '';
        const paid = await payForCode(ctx, { accountId: person.id, typed });
        if (!paid.ok) return refused('limited', { kind: 'later', seconds: paid.retryAfter });
        const made = await setUpFactor(state, secret, { typed, ticked });
        if (made === 'wrong') return refused(made, { kind: 'wrong' });
        if (made === 'ways') {
          return showSetUp(ctx, visitor, { replaces }, { problem: { kind: 'ways' } });
        }
        if (made === 'over') {
          noteLate(ctx);
          throw expired(TO_ACCOUNT, 409);
        }
        await paid.giveBack();
        browsers.remember(ctx, person.name, { secondFactor: made.secondFactor });
        const { language } = viewOf(ctx);
        const kind = replaces === undefined ? 'second-factor-set-up' : 'second-factor-replaced';
        await notify(server, person.id, kind, language);
        if (made.lostPasskeys) await notify(server, person.id, 'passkey-removed', language);
        // All sign-ins have ended, also this one. A remaining passkey is still stronger than a code.
        const { assurance, passkey } = signIn;
        const isLeft = (await stores.passkeys.of(person.id)).some(({ id }) => id === passkey);
        const means =
          passkey !== undefined && isLeft
            ? { assurance, passkey }
            : { assurance: BY_SECOND_FACTOR };
        if (passkey !== undefined && !isLeft) lastWay.remember(ctx, 'password');
        const shown = { person: { ...person, generation: made.generation }, means };
        showCodes(ctx, await signInVisitor(ctx, shown), made.codes);
      },
    ],
    [
      'another',
      async (ctx, visitor) => {
        const factor = await stores.secondFactors.get(visitor.person.id);
        await showSetUp(ctx, visitor, factor ? { replaces: factor.id } : {});
      },
    ],
    [
      'renew',
      async (ctx, visitor) => {
        const codes = await renewRecoveryCodes(
          asPerson(server, visitor.person.id, ctx),
          visitor.person.id,
        );
        // Another request made new recovery codes at the same time, and its answer may be lost.
        if (codes === undefined) {
          noteLate(ctx);
          return showTo(ctx, visitor, 'codes-shown');
        }
        await notify(server, visitor.person.id, 'recovery-codes-renewed', viewOf(ctx).language);
        showCodes(ctx, visitor, codes.map(shownRecoveryCode), { renewed: true });
      },
    ],
    [
      'remove',
      async (ctx, visitor) => {
        if (mustHaveSecondFactor(rule, visitor.person.profile?.groups)) {
          // The operator has made the second factor mandatory since the page was shown.
          await showTo(ctx, visitor);
          ctx.status = 403;
          return;
        }
        const { person } = visitor;
        const factor = await stores.secondFactors.get(person.id);
        const removed = { kind: 'second-factor.removed', person: person.id } as const;
        const { recorder } = asPerson(server, person.id, ctx);
        const factors = recorder.changing('secondFactors', removed);
        const isGone = factor && (await factors.remove(person.id, factor.id));
        if (isGone) await notify(server, person.id, 'second-factor-removed', viewOf(ctx).language);
        await showTo(ctx, visitor, 'removed');
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
