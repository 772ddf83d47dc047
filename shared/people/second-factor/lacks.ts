import type { Passkeys } from '#shared/stores/credentials/passkeys.ts';
import type { SecondFactors } from '#shared/stores/credentials/second-factors.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { mustHaveSecondFactor, type SecondFactorRule } from './need.ts';

/** The second factor and the passkeys of a person. */
export interface StrongWays {
  readonly second_factor: boolean;
  /** How many of the person's passkeys are valid at the domain of sign-ins. */
  readonly passkeys: number;
  /**
   * True if the person needs a second factor, and has neither one nor a passkey: the next sign-in leads to the
   * set-up.
   */
  readonly lacks_second_factor: boolean;
}

/**
 * Looks up the second factor and the passkeys of a person. `rpId`: the domain of passkeys; undefined if passkeys are
 * off.
 */
export async function strongWays(
  stores: {
    readonly secondFactors: Pick<SecondFactors, 'get'>;
    readonly passkeys: Pick<Passkeys, 'of'>;
  },
  { rule, rpId }: { readonly rule: SecondFactorRule; readonly rpId: string | undefined },
  { id, profile }: Pick<PersonRecord, 'id' | 'profile'>,
): Promise<StrongWays> {
  const [factor, all] = await Promise.all([stores.secondFactors.get(id), stores.passkeys.of(id)]);
  const passkeys = all.filter((passkey) => passkey.rpId === rpId).length;
  const second_factor = factor !== undefined;
  const lacks =
    mustHaveSecondFactor(rule, profile?.groups) && factor === undefined && passkeys === 0;
  return { second_factor, passkeys, lacks_second_factor: lacks };
}
