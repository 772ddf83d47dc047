import type { Clock } from '#shared/base/clock.ts';

/** Converts times between the clock of this process and the clock that all processes share. */
export interface Moments {
  /** The present time of the shared clock. */
  now(): number;
  toShared(own: number): number;
  toOwn(shared: number): number;
}

export function moments(own: Clock, shared: Clock): Moments {
  // Two reads of one clock may differ, so they are not compared.
  const ahead = () => (shared === own ? 0 : shared.now() - own.now());
  return {
    now: () => Math.floor(shared.now()),
    toShared: (at) => at + ahead(),
    toOwn: (at) => at - ahead(),
  };
}
