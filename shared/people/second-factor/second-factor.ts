import type { Recorder } from '#shared/audit/recorder.ts';
import type { Clock } from '#shared/base/clock.ts';
import { type Random, randomId } from '#shared/base/random.ts';
import { seal, unseal } from '#shared/keys/seal.ts';
import type { SecondFactorRecord } from '#shared/stores/credentials/second-factors.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { changing } from '../access/access-store.ts';
import { newRecoveryCodes, readRecoveryCode, recoveryMac } from './recovery-codes.ts';
import { DIGITS, SECRET_OCTETS, stepOf } from './totp.ts';

export interface SecondFactorStore {
  readonly stores: Pick<Stores, 'secondFactors'>;
  readonly recorder?: Recorder;
  /** The master secret. */
  readonly master: Buffer;
  readonly clock: Clock;
  readonly random: Random;
}

const purpose = ({ accountId, id }: Pick<SecondFactorRecord, 'accountId' | 'id'>) =>
  `second factor ${JSON.stringify([accountId, id])}`;

const TOTP = new RegExp(`^\\d{${DIGITS}}$`);

/** Reads a one-time code that a person typed, with any spaces; undefined if it cannot be a code. */
function readTotp(typed: string): string | undefined {
  const code = typed.replaceAll(/\s/g, '');
  return TOTP.test(code) ? code : undefined;
}

/** Returns whether a second factor was sealed under this master secret for its person. */
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
 * Creates a second factor for a person whose device has shown a code of the secret; that code is then used up. The
 * recovery codes cannot be read again. Returns undefined if the code is not valid now.
 */
export function makeSecondFactor(
  { master, clock, random }: Omit<SecondFactorStore, 'stores'>,
  accountId: string,
  secret: Buffer,
  typed: string,
): { readonly factor: SecondFactorRecord; readonly codes: readonly string[] } | undefined {
  const now = clock.now();
  const code = readTotp(typed);
  const step = code === undefined ? undefined : stepOf(secret, code, now);
  if (step === undefined) return undefined;
  const codes = newRecoveryCodes(random);
  const named = { accountId, id: randomId(random) };
  const factor = {
    ...named,
    sealed: seal(master, purpose(named), secret.toString('base64url'), random),
    step,
    recovery: codes.map((one) => recoveryMac(master, accountId, one)),
    created_at: now,
  };
  return { factor, codes };
}

/** A right code that has not been used yet. */
export interface RightCode {
  /** The id of the set-up to which the code belongs. */
  readonly id: string;
  /**
   * Uses the code up. Of several uses at the same time one succeeds; the rest resolve to undefined. `left`: how many
   * recovery codes remain, if the code is one.
   */
  use(): Promise<{ readonly left?: number } | undefined>;
}

/**
 * The reason for which a code is refused. `recovery`: a recovery code that the person does not have, or no longer
 * has.
 */
export type WrongCode = 'wrong' | 'replayed' | 'recovery';

/** Checks a one-time code or a recovery code of a person, without using it up. */
export async function checkCode(
  store: Omit<SecondFactorStore, 'random'>,
  accountId: string,
  typed: string,
): Promise<RightCode | WrongCode> {
  const {
    stores: { secondFactors },
    master,
    clock,
  } = store;
  const factor = await secondFactors.get(accountId);
  if (factor === undefined) return 'wrong';
  const now = clock.now();
  const recovery = readRecoveryCode(typed);
  if (recovery !== undefined) {
    const mac = recoveryMac(master, accountId, recovery);
    if (!factor.recovery.includes(mac)) return 'recovery';
    return {
      id: factor.id,
      async use() {
        const used = { kind: 'recovery-code.used', person: accountId } as const;
        const left = await changing(store, 'secondFactors', used).useRecovery(accountId, mac, now);
        return left === undefined ? undefined : { left };
      },
    };
  }
  const code = readTotp(typed);
  if (code === undefined) return 'wrong';
  const secret = Buffer.from(unseal(master, purpose(factor), factor.sealed), 'base64url');
  const step = stepOf(secret, code, now);
  if (step === undefined) return 'wrong';
  if (step <= factor.step) return 'replayed';
  return {
    id: factor.id,
    use: async () =>
      (await secondFactors.useStep(accountId, factor.id, step, now)) ? {} : undefined,
  };
}

/**
 * Gives a person ten new recovery codes. Returns undefined if they have no second factor, or if its codes were
 * changed meanwhile.
 */
export async function renewRecoveryCodes(
  store: Omit<SecondFactorStore, 'clock'>,
  accountId: string,
): Promise<readonly string[] | undefined> {
  const { stores, master, random } = store;
  const factor = await stores.secondFactors.get(accountId);
  if (factor === undefined) return undefined;
  const codes = newRecoveryCodes(random);
  const macs = codes.map((one) => recoveryMac(master, accountId, one));
  const renewed = { kind: 'recovery-codes.renewed', person: accountId } as const;
  const factors = changing(store, 'secondFactors', renewed);
  return (await factors.renewRecovery(factor, macs)) ? codes : undefined;
}
