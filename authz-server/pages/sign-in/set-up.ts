import { clearEarlier } from '#shared/people/access/everything.ts';
import { shownRecoveryCode } from '#shared/people/second-factor/recovery-codes.ts';
import { makeSecondFactor } from '#shared/people/second-factor/second-factor.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { asPerson } from '../../base/acting.ts';
import type { PagesServer } from '../../base/server.ts';
import { markOf, otherWays, removeWays } from './other-ways.ts';
import { claimStep, type StepState } from './step-state.ts';

/** The result of a set-up, which has ended all sign-ins and grants of the person. */
export interface NewlySetUp {
  /** Recovery codes as they are read. */
  readonly codes: readonly string[];
  /** The generation of the sign-in that set it up. */
  readonly generation: number;
  /** The id of the set-up. */
  readonly secondFactor: string;
  /** Whether passkeys were removed with it. */
  readonly lostPasskeys: boolean;
}

/** The fields of a form of a set-up. */
interface Filled {
  readonly typed: string;
  /** The items of the other ways to sign in that the set-up removes. */
  readonly ticked: readonly string[];
}

/**
 * Sets a second factor up and ends all that was opened without it, in one step of the store: a crash leaves both or neither.
 * `over`: the person has another second factor than the step replaces, what they had has ended since the step began,
 * perhaps by a new password, or the step is done; then nothing is set up. `ways`: the person has other passkeys and keys
 * than the page listed; nothing is done. Those that are ticked are removed before, so that no crash leaves a planted one
 * beside the second factor. One that came in since then is removed, too.
 */
export function createSetUp(server: PagesServer) {
  const { clock, longestLife } = server;
  return async (
    step: StepState,
    secret: string,
    { typed, ticked }: Filled,
  ): Promise<NewlySetUp | 'wrong' | 'ways' | 'over'> => {
    const { accountId, generation, replaces } = step;
    const made = makeSecondFactor(server, accountId, Buffer.from(secret, 'base64url'), typed);
    if (made === undefined) return 'wrong';
    const ways = await otherWays(server, accountId);
    if (markOf(ways) !== step.ways) return 'ways';
    if (!(await claimStep(server, step))) return 'over';
    const chosen = ways.filter(({ item }) => ticked.includes(item));
    const acting = asPerson(server, accountId);
    const removed = await removeWays(acting, accountId, chosen);
    const added = { kind: 'second-factor.added', person: accountId } as const;
    const raised = await acting.recorder.changing('secondFactors', added).setUp({
      factor: made.factor,
      ...(replaces !== undefined && { replaces }),
      generation,
      until: rememberUntil(clock.now(), longestLife),
    });
    if (raised === undefined) return 'over';
    await clearEarlier(server, accountId, raised);
    const listed = new Set(ways.map(({ item }) => item));
    const since = (await otherWays(server, accountId)).filter(({ item }) => !listed.has(item));
    const late = await removeWays(acting, accountId, since);
    const codes = made.codes.map(shownRecoveryCode);
    const lostPasskeys = [...removed, ...late].some(({ kind }) => kind === 'passkey');
    return { codes, generation: raised, secondFactor: made.factor.id, lostPasskeys };
  };
}
