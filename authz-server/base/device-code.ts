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
  /** The IP address and user agent of the device's request. */
  readonly deviceInfo?: { readonly ip?: string; readonly ua?: string };
  /** The person who decided; absent before the decision. */
  readonly accountId?: string;
  /** Present if the person denied the request. */
  readonly error?: string;
}

/** The members of a decided code that the engine's token endpoint reads (RFC 8628 section 3.5). */
export type DeviceDecision =
  | {
      readonly accountId: string;
      readonly grantId: string;
      /** The granted scopes, separated by spaces. */
      readonly scope: string;
      readonly resource?: string | readonly string[];
      /** The sign-in of the person. */
      readonly acr?: string;
      readonly amr?: readonly string[];
      /** NumericDate. */
      readonly authTime?: number;
      readonly sessionUid?: string;
    }
  | {
      readonly accountId: string;
      /**
       * `unmet_authentication_requirements`: the person gave up, since the device requires a stronger sign-in than the
       * person has.
       */
      readonly error: 'access_denied' | 'unmet_authentication_requirements';
      readonly errorDescription: string;
    };

export interface DeviceCodeStore {
  readonly stores: { readonly artefacts: Artefacts };
  readonly clock: Clock;
}

/** Returns the unexpired device code of a normalised user code, or undefined if there is none. */
export async function findDeviceCode(
  { stores, clock }: DeviceCodeStore,
  userCode: string,
): Promise<DeviceCode | undefined> {
  const code = asDeviceCode(await stores.artefacts.getByUserCode('DeviceCode', userCode));
  return code === undefined || code.exp <= epochSeconds(clock) ? undefined : code;
}

/** Stores a decision. Returns false if the code has expired or was decided meanwhile: the first decision is final. */
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

/** Casts a stored code. Only the engine and `decideDeviceCode` write codes, so their members are not checked again. */
function asDeviceCode(payload: Record<string, unknown> | undefined): DeviceCode | undefined {
  return payload as DeviceCode | undefined;
}
