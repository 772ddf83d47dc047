import type { StoredKey } from '#shared/stores/keys.ts';

export type KeyState = 'published' | 'signing' | 'retiring' | 'retired';

export interface ScheduledKey {
  readonly key: StoredKey;
  /** `published`: in the JWKS, does not sign yet. `retiring`: its tokens may still live. */
  readonly state: KeyState;
  /** Milliseconds since the epoch when the state changes next; absent: not before another rotation. */
  readonly until?: number;
}

/**
 * Which key does what at `now` follows from the rows alone, so that all processes agree without
 * talking: a key signs from `signsFrom` until the next of its alg does, and is retired when the last
 * token that it signed has expired. `longestLife`: milliseconds, longest token life plus skew.
 */
export function scheduleKeys(
  keys: readonly StoredKey[],
  now: number,
  longestLife: number,
): readonly ScheduledKey[] {
  const ordered = keys.toSorted((a, b) => a.signsFrom - b.signsFrom || (a.kid < b.kid ? -1 : 1));
  return ordered.map((key, index) => {
    if (key.signsFrom > now) return { key, state: 'published', until: key.signsFrom };
    const successor = ordered.find((other, at) => at > index && other.alg === key.alg);
    if (successor === undefined) return { key, state: 'signing' };
    if (successor.signsFrom > now) return { key, state: 'signing', until: successor.signsFrom };
    const retires = successor.signsFrom + longestLife;
    return retires > now ? { key, state: 'retiring', until: retires } : { key, state: 'retired' };
  });
}
