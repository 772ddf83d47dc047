/**
 * `published`: clients know the key, and it is not used yet. `retiring`: it is no longer used, but its signatures or
 * tokens are still valid.
 */
export type KeyState<Use extends string> = 'published' | Use | 'retiring' | 'retired';

/** Milliseconds since the epoch. */
export interface KeyTimes {
  readonly begins: number;
  /** When the next key of its kind begins; Infinity if there is none. */
  readonly next: number;
  readonly ends: number;
}

/**
 * Returns the state of a key at `now`. It depends only on the rows and the clock, so that all processes agree without
 * messages. The key in `use` is the newest of its kind that has begun.
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
