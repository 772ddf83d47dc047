import type { Context } from 'koa';
import {
  BY_PROVIDER_AND_CODE,
  BY_PROVIDER_AND_RECOVERY_CODE,
  BY_RECOVERY_CODE,
  BY_SECOND_FACTOR,
} from '#shared/people/access/assurance.ts';
import type { Acr } from '#shared/jose/acr.ts';
import type { Authenticated } from '#shared/people/directory.ts';
import { mustHaveSecondFactor } from '#shared/people/second-factor/need.ts';
import { checkCode, type WrongCode } from '#shared/people/second-factor/second-factor.ts';
import { passwordMark } from '#shared/people/password-mark.ts';
import { note } from '#shared/server/message/request-log.ts';
import { languageOf } from '#shared/pages/language.ts';
import { asPerson, bySomebody } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import { notify } from '#shared/mail/notify.ts';
import { newSecondFactor } from './new-second-factor.ts';
import { markOf } from './other-ways.ts';
import { createSetUp } from './set-up.ts';
import { createSetUpSecret } from './set-up-secret.ts';
import { noteLate } from '../frame/respond.ts';
import type { Attempt, Shown } from './attempt.ts';
import { createAttemptLimits } from './attempt-limits.ts';
import { createCodeLimit } from './code-limit.ts';
import { type Came, claimStep, createStepState, isClaimed, type StepState } from './step-state.ts';
import type { SecondFactorProblem } from '../views/second-factor-fields.ts';
import type { SecondStep } from '../views/second-step.ts';

export interface SecondSteps {
  /**
   * Undefined: the password is enough. `use-passkey`: the person needs a second factor and has a passkey, which counts
   * as both. A thief of the password must not set up another second factor. `least`: the weakest acceptable way to sign
   * in. `came`: how the person came, if not with a password.
   */
  begin(
    ctx: Context,
    person: Authenticated,
    least?: Acr,
    came?: Came,
  ): Promise<SecondStep | 'use-passkey' | undefined>;
  /** Checks the form of the second step. */
  finish(ctx: Context, form: URLSearchParams): Promise<Attempt>;
}

/** Returns how a person signed in, after a one-time code or a recovery code. */
function shownBy(came: Came | undefined, isOneTime: boolean): Pick<Shown, 'means' | 'since'> {
  if (came === undefined) {
    return { means: { assurance: isOneTime ? BY_SECOND_FACTOR : BY_RECOVERY_CODE } };
  }
  const { since, ...account } = came;
  const assurance = isOneTime ? BY_PROVIDER_AND_CODE : BY_PROVIDER_AND_RECOVERY_CODE;
  return { means: { assurance, ...account }, since };
}

const OVER: Attempt = { problem: { kind: 'step-over' } };
/** The outcome if a browser reloads the page of its recovery codes, and so sends the set-up again. */
const SHOWN: Attempt = { problem: { kind: 'codes-shown' } };

/** The step after the right password or an account elsewhere. The sign-in exists only after this step. */
export function createSecondStep(server: PagesServer): SecondSteps {
  const { stores } = server;
  const rule = server.config.people.secondFactor;
  const { write, read } = createStepState(server);
  const { settle } = createAttemptLimits(server);
  const payForCode = createCodeLimit(server);
  const setUpFactor = createSetUp(server);
  const secretOf = createSetUpSecret(server);

  /** Shows the same step again, with the same state, since its time began with the password. */
  async function again(
    sealed: string,
    { name, accountId, secret }: StepState,
    problem: SecondFactorProblem,
    ticked: readonly string[],
  ): Promise<Attempt> {
    const step = { name, state: sealed, problem };
    if (secret === undefined) return { step };
    return {
      step: { ...step, setUp: await newSecondFactor(server, { accountId, name, secret }, ticked) },
    };
  }

  /** Whether the password that was right is still the person's. */
  async function hasSamePassword({ accountId, password }: StepState): Promise<boolean> {
    if (password === undefined) return true;
    const person = await stores.people.get(accountId);
    return person !== undefined && passwordMark(person) === password;
  }

  /**
   * Uses up a right code. The step is claimed first, so that of two codes that are sent at once only one is used up.
   */
  async function use(step: StepState, typed: string) {
    const { accountId, generation } = step;
    const checked = await checkCode(asPerson(server, accountId), accountId, typed);
    if (typeof checked === 'string') return checked;
    const used = (await claimStep(server, step)) && (await checked.use());
    return used ? { generation, secondFactor: checked.id, ...used } : 'over';
  }

  return {
    async begin(
      ctx,
      { id: accountId, name, generation, passwordMark: password, profile },
      least,
      came,
    ) {
      if (rule === 'off') return undefined;
      const person = {
        accountId,
        name,
        generation,
        ...(password !== undefined && { password }),
        ...(came && { came }),
      };
      if ((await stores.secondFactors.get(accountId)) !== undefined) {
        return { name, state: write(ctx, person) };
      }
      const isAskedFor = least === BY_SECOND_FACTOR.acr;
      if (!isAskedFor && !mustHaveSecondFactor(rule, profile?.groups)) return undefined;
      if ((await stores.passkeys.of(accountId)).length > 0) return 'use-passkey';
      const secret = await secretOf(ctx, person);
      const setUp = await newSecondFactor(server, { ...person, secret });
      return { name, state: write(ctx, { ...person, secret, ways: markOf(setUp.ways) }), setUp };
    },

    async finish(ctx, form) {
      const sealed = form.get('step') ?? '';
      const state = read(ctx, sealed);
      if (state === undefined) return OVER;
      // The step was claimed, perhaps by the same form.
      const claimed = (): Attempt => {
        noteLate(ctx);
        return state.secret === undefined ? OVER : SHOWN;
      };
      if (await isClaimed(server, state)) return claimed();
      const { accountId, name, secret } = state;
      const person = await server.directory.find(accountId);
      if (person === undefined || !(await hasSamePassword(state))) return OVER;
      const factor = await stores.secondFactors.get(accountId);
      const typed = form.get('recovery') || form.get('code') || '';
      const ticked = form.getAll('item');
      const secondFactor = secret === undefined ? (factor?.id ?? '') : undefined;
      const paid = await payForCode(ctx, { accountId, secondFactor, typed });
      const refused = async (kind: WrongCode | 'limited', problem: SecondFactorProblem) => {
        // The same code was sent twice at once. It was right, and the other request has used it up.
        if (await isClaimed(server, state)) return claimed();
        await bySomebody(server, ctx).refused(accountId, `second factor: ${kind}`);
        note(ctx.req, { reason: `second factor: ${kind}`, subject: accountId });
        return again(sealed, state, problem, ticked);
      };
      if (!paid.ok) return refused('limited', { kind: 'later', seconds: paid.retryAfter });
      const done =
        secret === undefined
          ? await use(state, typed)
          : await setUpFactor(state, secret, { typed, ticked });
      if (done === 'over') noteLate(ctx);
      if (done === 'over' || done === 'ways') return OVER;
      if (typeof done === 'string') {
        const isRecovery = done === 'recovery' || (form.get('recovery') ?? '') !== '';
        return refused(done, { kind: isRecovery ? 'recovery' : 'wrong' });
      }
      const language = languageOf(ctx.get('Accept-Language'));
      if (secret !== undefined) await notify(server, accountId, 'second-factor-set-up', language);
      if ('lostPasskeys' in done && done.lostPasskeys) {
        await notify(server, accountId, 'passkey-removed', language);
      }
      const { generation, left, secondFactor: used, ...more } = { left: undefined, ...done };
      if (left !== undefined) await notify(server, accountId, 'recovery-code-used', language);
      await paid.giveBack();
      await settle(ctx, name, used);
      return {
        person: { ...person, generation },
        ...shownBy(state.came, left === undefined),
        ...('codes' in more && { codes: more.codes }),
      };
    },
  };
}
