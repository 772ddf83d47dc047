import { epochSeconds } from '#shared/base/clock.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Artefacts } from '#shared/stores/oauth/artefacts.ts';

/** Seconds for which an expired code is still known, so that the device is told `expired_token`. */
export const AFTERLIFE = 600;

/** The engine's DeviceCode as it is stored, in the members that a decision needs. Times are NumericDates. */
export interface DeviceCode {
  readonly jti: string;
  readonly clientId: string;
  readonly userCode: string;
  readonly iat: number;
  readonly exp: number;
  /** The device's request (RFC 8628 section 3.1), checked by the engine. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Where the device asked from. */
  readonly deviceInfo?: { readonly ip?: string; readonly ua?: string };
  /** Who decided; absent: nobody yet. */
  readonly accountId?: string;
  /** It was denied. */
  readonly error?: string;
}

/** What the engine's token endpoint reads of a code that was decided (RFC 8628 section 3.5). */
export type DeviceDecision =
  | {
      readonly accountId: string;
      readonly grantId: string;
      /** What was granted, space separated. */
      readonly scope: string;
      readonly resource?: string | readonly string[];
      readonly acr: string;
      readonly amr: readonly string[];
      /** NumericDate of the sign-in. */
      readonly authTime: number;
      readonly sessionUid: string;
    }
  | {
      readonly accountId: string;
      readonly error: 'access_denied';
      readonly errorDescription: string;
    };

export interface DeviceCodeStore {
  readonly stores: { readonly artefacts: Artefacts };
  readonly clock: Clock;
}

/** Undefined when there is none or it has expired. `userCode` is normalised. */
export async function findDeviceCode(
  { stores, clock }: DeviceCodeStore,
  userCode: string,
): Promise<DeviceCode | undefined> {
  const code = asDeviceCode(await stores.artefacts.getByUserCode('DeviceCode', userCode));
  return code === undefined || code.exp <= epochSeconds(clock) ? undefined : code;
}

/** False when it was decided by somebody else meanwhile, or has expired: the first decision stands. */
export async function decideDeviceCode(
  { stores, clock }: DeviceCodeStore,
  code: DeviceCode,
  decision: DeviceDecision,
): Promise<boolean> {
  const rest = code.exp - epochSeconds(clock);
  if (rest <= 0) return false;
  const seconds = rest + AFTERLIFE;
  const payload = { ...code, ...decision };
  return stores.artefacts.replace(
    { kind: 'DeviceCode', id: code.jti, payload, seconds },
    { ...code },
  );
}

/** Written by the engine and by `decideDeviceCode` alone, so its members need no second check. */
function asDeviceCode(payload: Record<string, unknown> | undefined): DeviceCode | undefined {
  return payload as DeviceCode | undefined;
}
