import type { SecondFactorRecord } from './second-factors.ts';

/** A second factor after a change. Undefined: the change is refused. */
export type SecondFactorChange = (factor: SecondFactorRecord) => SecondFactorRecord | undefined;

const used = (factor: SecondFactorRecord, at: number) => ({
  ...factor,
  used_at: Math.max(at, factor.used_at ?? at),
});

export const useOfStep =
  (id: string, step: number, at: number): SecondFactorChange =>
  (factor) =>
    factor.id === id && step > factor.step ? { ...used(factor, at), step } : undefined;

export const useOfRecovery =
  (mac: string, at: number): SecondFactorChange =>
  (factor) =>
    factor.recovery.includes(mac)
      ? { ...used(factor, at), recovery: factor.recovery.filter((one) => one !== mac) }
      : undefined;

export const renewalOfRecovery =
  (seen: SecondFactorRecord, recovery: readonly string[]): SecondFactorChange =>
  (factor) =>
    factor.id === seen.id && JSON.stringify(factor.recovery) === JSON.stringify(seen.recovery)
      ? { ...factor, recovery }
      : undefined;
