import type { Clock } from '#shared/base/clock.ts';

/** Converts times from the clock of this process to the clock that all processes share, and back. */
export interface Moments {
  /** The present time by the clock that all processes share. */
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
