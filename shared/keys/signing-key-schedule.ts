import type { StoredKey } from '#shared/stores/keys/keys.ts';
import { type KeyState, keyState } from './key-state.ts';

export interface ScheduledKey {
  readonly key: StoredKey;
  readonly state: KeyState<'signing'>;
  /** Milliseconds since the epoch of the next change of the state; absent if only another rotation changes it. */
  readonly until?: number;
}

/**
 * Returns the schedule of keys. A key signs from `signsFrom` until the next key of its alg does, and is retired when
 * the last token that it signed has expired. `longestLife`: milliseconds, longest token life plus skew.
 */
export function scheduleKeys(
  keys: readonly StoredKey[],
  now: number,
  longestLife: number,
): readonly ScheduledKey[] {
  const ordered = keys.toSorted((a, b) => a.signsFrom - b.signsFrom || (a.kid < b.kid ? -1 : 1));
  return ordered.map((key, index) => {
    const successor = ordered.find((other, at) => at > index && other.alg === key.alg);
    const begins = key.signsFrom;
    const next = successor?.signsFrom ?? Infinity;
    const ends = next + longestLife;
    const state = keyState('signing', { begins, next, ends }, now);
    const until = { published: begins, signing: next, retiring: ends, retired: Infinity }[state];
    return until === Infinity ? { key, state } : { key, state, until };
  });
}
