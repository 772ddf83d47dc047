import type { Context } from 'koa';
import { BY_SECOND_FACTOR } from '#shared/people/access/assurance.ts';
import type { Authenticated } from '#shared/people/directory.ts';
import { mustHaveSecondFactor } from '#shared/people/second-factor/need.ts';
import { newSecret, useSecondFactor } from '#shared/people/second-factor/second-factor.ts';
import { languageOf } from '#shared/pages/language.ts';
import type { PagesServer } from '../../base/server.ts';
import { notify } from '#shared/mail/notify.ts';
import { newSecondFactor } from './new-second-factor.ts';
import { createSetUp } from './set-up.ts';
import type { SecondFactorProblem, SecondStep } from '../frame/view.ts';
import type { Attempt } from './attempt.ts';
import { createAttemptLimits } from './attempt-limits.ts';
import { payForCode } from './code-limit.ts';
import { createStepState, STEP, type StepState } from './step-state.ts';

export interface SecondSteps {
  /**
   * Undefined: the password is enough. `use-passkey`: the person must have a second factor and has a passkey, which stands
   * for both; whoever knows the password alone must not set up another.
   */
  begin(ctx: Context, person: Authenticated): Promise<SecondStep | 'use-passkey' | undefined>;
  /** Checks what the form of the second step shows. */
  finish(ctx: Context, form: URLSearchParams): Promise<Attempt>;
}

const OVER: Attempt = { problem: { kind: 'step-over' } };

/** The step after the right password. Nothing of the sign-in exists before it is done. */
export function createSecondStep(server: PagesServer): SecondSteps {
  const { config, stores, random } = server;
  const rule = config.people.secondFactor;
  const { write, read } = createStepState(server);
  const { settle } = createAttemptLimits(server);
  const setUp = createSetUp(server);

  /** The page of a step that goes on, with the same state: its time began with the password. */
  function again(
    state: string,
    { name, secret }: StepState,
    problem: SecondFactorProblem,
  ): Attempt {
    const shown = secret === undefined ? {} : { setUp: newSecondFactor(config, name, secret) };
    return { step: { name, state, ...shown, problem } };
  }

  return {
    async begin(ctx, { id: accountId, name, generation, profile }) {
      if (rule === 'off') return undefined;
      const person = { accountId, name, generation };
      if ((await stores.secondFactors.get(accountId)) !== undefined) {
        return { name, state: write(ctx, person) };
      }
      if (!mustHaveSecondFactor(rule, profile?.groups)) return undefined;
      if ((await stores.passkeys.of(accountId)).length > 0) return 'use-passkey';
      const secret = newSecret(random).toString('base64url');
      const state = write(ctx, { ...person, secret });
      return { name, state, setUp: newSecondFactor(config, name, secret) };
    },

    async finish(ctx, form) {
      const sealed = form.get('step') ?? '';
      const state = read(ctx, sealed);
      if (state === undefined || (await stores.replay.seen('second-step', state.id))) return OVER;
      const { accountId, name, secret } = state;
      const person = await server.directory.find(accountId);
      if (person === undefined) return OVER;
      const paid = await payForCode(server, accountId);
      if (!paid.ok) return again(sealed, state, { kind: 'later', seconds: paid.retryAfter });
      const typed = form.get('recovery') || form.get('code') || '';
      const made =
        secret === undefined
          ? (await useSecondFactor(server, accountId, typed)) && { generation: state.generation }
          : await setUp(state, Buffer.from(secret, 'base64url'), typed);
      if (made === 'over') return OVER;
      if (made === false) return again(sealed, state, { kind: 'wrong' });
      if (secret !== undefined) {
        const language = languageOf(ctx.get('Accept-Language'));
        await notify(server, accountId, 'second-factor-set-up', language);
      }
      // If two right codes come at once, one signs in.
      if (!(await stores.replay.unique('second-step', state.id, STEP))) return OVER;
      await paid.giveBack();
      await settle(ctx, name);
      const { generation, ...codes } = made;
      return {
        person: { ...person, generation },
        means: { assurance: BY_SECOND_FACTOR },
        ...codes,
      };
    },
  };
}
