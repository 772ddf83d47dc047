import type { Clock } from '#shared/base/clock.ts';
import { type Random, randomId } from '#shared/base/random.ts';
import { seal, unseal } from '#shared/keys/seal.ts';
import type { SecondFactorRecord } from '#shared/stores/credentials/second-factors.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { newRecoveryCodes, readRecoveryCode, recoveryMac } from './recovery-codes.ts';
import { DIGITS, SECRET_OCTETS, stepOf } from './totp.ts';

export interface SecondFactorStore {
  readonly stores: Pick<Stores, 'secondFactors'>;
  /** The master secret. */
  readonly master: Buffer;
  readonly clock: Clock;
  readonly random: Random;
}

const purpose = ({ accountId, id }: Pick<SecondFactorRecord, 'accountId' | 'id'>) =>
  `second factor ${JSON.stringify([accountId, id])}`;

const TOTP = new RegExp(`^\\d{${DIGITS}}$`);

/** Reads a one-time code that somebody typed, with any spaces; undefined: it cannot be one. */
function readTotp(typed: string): string | undefined {
  const code = typed.replaceAll(/\s/g, '');
  return TOTP.test(code) ? code : undefined;
}

/** Whether a second factor was sealed under this master secret for its person. */
export function opens(master: Buffer, factor: SecondFactorRecord): boolean {
  try {
    unseal(master, purpose(factor), factor.sealed);
    return true;
  } catch {
    return false;
  }
}

export const newSecret = (random: Random): Buffer => random(SECRET_OCTETS);

/**
 * Sets the second factor of a person up, whose device has shown a code of the secret. The code is used up by that.
 * Resolves to the recovery codes, which nobody can read again. `wrong`: it is no code of now. `taken`: the person has a
 * second factor already.
 */
export async function setUpSecondFactor(
  { stores, master, clock, random }: SecondFactorStore,
  accountId: string,
  secret: Buffer,
  typed: string,
): Promise<readonly string[] | 'wrong' | 'taken'> {
  const code = readTotp(typed);
  const step = code === undefined ? undefined : stepOf(secret, code, clock.now());
  if (step === undefined) return 'wrong';
  const codes = newRecoveryCodes(random);
  const named = { accountId, id: randomId(random) };
  const added = await stores.secondFactors.add({
    ...named,
    sealed: seal(master, purpose(named), secret.toString('base64url'), random),
    step,
    recovery: codes.map((one) => recoveryMac(master, accountId, one)),
    created_at: clock.now(),
  });
  return added ? codes : 'taken';
}

/**
 * Uses up a one-time code or a recovery code of a person. False: it is wrong, or was used before; of several uses at
 * once one succeeds.
 */
export async function useSecondFactor(
  { stores, master, clock }: Omit<SecondFactorStore, 'random'>,
  accountId: string,
  typed: string,
): Promise<boolean> {
  const { secondFactors } = stores;
  const factor = await secondFactors.get(accountId);
  if (factor === undefined) return false;
  const now = clock.now();
  const recovery = readRecoveryCode(typed);
  if (recovery !== undefined) {
    return secondFactors.useRecovery(accountId, recoveryMac(master, accountId, recovery), now);
  }
  const code = readTotp(typed);
  if (code === undefined) return false;
  const secret = Buffer.from(unseal(master, purpose(factor), factor.sealed), 'base64url');
  const step = stepOf(secret, code, now);
  return step !== undefined && secondFactors.useStep(accountId, factor.id, step, now);
}

/** Gives a person ten other recovery codes. Undefined: they have no second factor. */
export async function renewRecoveryCodes(
  { stores, master, random }: Omit<SecondFactorStore, 'clock'>,
  accountId: string,
): Promise<readonly string[] | undefined> {
  const factor = await stores.secondFactors.get(accountId);
  if (factor === undefined) return undefined;
  const codes = newRecoveryCodes(random);
  const macs = codes.map((one) => recoveryMac(master, accountId, one));
  const renewed = await stores.secondFactors.renewRecovery(accountId, factor.id, macs);
  return renewed ? codes : undefined;
}
