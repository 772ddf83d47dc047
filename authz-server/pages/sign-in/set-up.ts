import { clearEarlier } from '#shared/people/access/everything.ts';
import { shownRecoveryCode } from '#shared/people/second-factor/recovery-codes.ts';
import { makeSecondFactor } from '#shared/people/second-factor/second-factor.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import type { PagesServer } from '../../base/server.ts';
import { claimStep, type StepState } from './step-state.ts';

/** A second factor was set up, and everything of the person has ended. */
export interface NewlySetUp {
  /** Recovery codes as they are read. */
  readonly codes: readonly string[];
  /** The generation of the sign-in that set it up. */
  readonly generation: number;
  /** The id of the set-up. */
  readonly secondFactor: string;
}

/**
 * Sets a second factor up and ends all that was opened without it, in one step of the store: a crash leaves both or neither.
 * `over`: the person has another second factor than the step replaces, what they had has ended since the step began,
 * perhaps by a new password, or the step is done; then nothing is set up.
 */
export function createSetUp(server: PagesServer) {
  const { stores, clock, longestLife } = server;
  return async (
    step: StepState,
    secret: string,
    typed: string,
  ): Promise<NewlySetUp | 'wrong' | 'over'> => {
    const { accountId, generation, replaces } = step;
    const made = makeSecondFactor(server, accountId, Buffer.from(secret, 'base64url'), typed);
    if (made === undefined) return 'wrong';
    if (!(await claimStep(server, step))) return 'over';
    const raised = await stores.secondFactors.setUp({
      factor: made.factor,
      ...(replaces !== undefined && { replaces }),
      generation,
      until: rememberUntil(clock.now(), longestLife),
    });
    if (raised === undefined) return 'over';
    await clearEarlier(server, accountId, raised);
    const codes = made.codes.map(shownRecoveryCode);
    return { codes, generation: raised, secondFactor: made.factor.id };
  };
}
