import type { Clock } from '#shared/base/clock.ts';

/** Moments of callers, who go by the clock of their process, by the clock that all processes share, and back. */
export interface Moments {
  /** Now, by the clock that all share. */
  now(): number;
  toShared(own: number): number;
  toOwn(shared: number): number;
}

export function moments(own: Clock, shared: Clock): Moments {
  // Two questions to one clock may differ by a moment.
  const ahead = () => (shared === own ? 0 : shared.now() - own.now());
  return {
    now: () => Math.floor(shared.now()),
    toShared: (at) => at + ahead(),
    toOwn: (at) => at - ahead(),
  };
}
