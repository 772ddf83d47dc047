import { endEverything } from '#shared/people/access/everything.ts';
import { shownRecoveryCode } from '#shared/people/second-factor/recovery-codes.ts';
import { setUpSecondFactor } from '#shared/people/second-factor/second-factor.ts';
import type { PagesServer } from '../../base/server.ts';

/** A second factor was set up, and everything of the person has ended. */
export interface NewlySetUp {
  /** Recovery codes as they are read. */
  readonly codes: readonly string[];
  /** The generation of the sign-in that set it up. */
  readonly generation: number;
}

/**
 * Sets a second factor up and ends all that was opened without it. False: the code is wrong. `over`: the person has one
 * already, or what they had has ended since `generation`, perhaps by a new password; then nothing is set up.
 */
export function createSetUp(server: PagesServer) {
  const { stores } = server;
  return async (
    { accountId, generation }: { readonly accountId: string; readonly generation: number },
    secret: Buffer,
    typed: string,
  ): Promise<NewlySetUp | false | 'over'> => {
    if ((await stores.revocations.generation('person', accountId)) !== generation) return 'over';
    const codes = await setUpSecondFactor(server, accountId, secret, typed);
    if (codes === 'wrong') return false;
    if (codes === 'taken') return 'over';
    const ended = await endEverything(server, accountId);
    if (ended.generation !== generation + 1) {
      await stores.secondFactors.remove(accountId);
      return 'over';
    }
    return { codes: codes.map(shownRecoveryCode), generation: ended.generation };
  };
}
