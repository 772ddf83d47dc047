/** `published`: others know it, nothing is made with it yet. `retiring`: what was made with it is still good. */
export type KeyState<Use extends string> = 'published' | Use | 'retiring' | 'retired';

/** Milliseconds since the epoch. */
export interface KeyTimes {
  readonly begins: number;
  /** When the next of its kind begins; Infinity: there is none. */
  readonly next: number;
  readonly ends: number;
}

/**
 * Returns the state of a key at `now`. It follows from the rows and the clock alone, so that all processes agree
 * without talking. The key in `use` is the newest of its kind that has begun.
 */
export function keyState<Use extends string>(
  use: Use,
  { begins, next, ends }: KeyTimes,
  now: number,
): KeyState<Use> {
  if (ends <= now) return 'retired';
  if (begins > now) return 'published';
  return next <= now ? 'retiring' : use;
}
