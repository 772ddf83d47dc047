import type { StoredTokenKey } from '#shared/stores/keys/token-keys.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';
import { type KeyState, keyState } from './key-state.ts';

/** The most rotations within an overlap. */
export const MOST_ROTATIONS = 20;
/** The most keys of a type that are not retired: those of an overlap, the issuing key and the next key. */
export const MOST_LIVE = MOST_ROTATIONS + 2;

/** The times in `privateTokens` of the configuration, in seconds. */
export interface TokenKeyTimes {
  /** Seconds from one key of a type to the next. */
  readonly rotation: number;
  /** Seconds for which a key is still valid after the next one has begun. */
  readonly overlap: number;
  /** Seconds for which the next key is published before it issues. */
  readonly maxAge: number;
}

export interface ScheduledTokenKey {
  readonly key: StoredTokenKey;
  /**
   * `issuing`: the key that clients use. A `retiring` key comes after it in the directory, and still issues and
   * verifies.
   */
  readonly state: KeyState<'issuing'>;
  /** Milliseconds since the epoch from which the key is retired, or earlier if a rotation comes early. */
  readonly until: number;
}

/**
 * Returns the schedule of keys. A key is valid until its `until`, or less if its successor came early. `epoch`: that
 * of the store's memory. A store that was emptied or restored has forgotten spent tokens, so keys of another epoch
 * are retired. `keys`: in the order in which they were added.
 */
export function scheduleTokenKeys(
  keys: readonly StoredTokenKey[],
  epoch: string,
  { overlap }: Pick<TokenKeyTimes, 'overlap'>,
  now: number,
): readonly ScheduledTokenKey[] {
  const successors = new Map<TokenType, StoredTokenKey>();
  const scheduled = keys.toReversed().map((key): ScheduledTokenKey => {
    const successor = successors.get(key.type);
    if (key.epoch === epoch) successors.set(key.type, key);
    const next = successor?.notBefore ?? Infinity;
    const until = Math.min(key.until, next + overlap * 1000);
    const isVoid = key.epoch !== epoch || key.sealed === undefined;
    const times = { begins: key.notBefore, next, ends: isVoid ? -Infinity : until };
    return { key, state: keyState('issuing', times, now), until };
  });
  return scheduled.toReversed();
}

/**
 * Returns when the key that must be made at `now` begins to issue, in milliseconds since the epoch; undefined if none
 * is due. `ofType`: all keys of a type, in the order of the schedule.
 */
export function nextNotBefore(
  ofType: readonly ScheduledTokenKey[],
  { rotation, maxAge }: TokenKeyTimes,
  now: number,
): number | undefined {
  const newest = ofType.findLast(({ state }) => state !== 'retired');
  if (newest === undefined) return thisSecond(now);
  const due = newest.key.notBefore + rotation * 1000;
  return now < due - maxAge * 1000 ? undefined : Math.max(due, thisSecond(now));
}

/** Returns the second of `now`; both in milliseconds since the epoch. */
export function thisSecond(now: number): number {
  return Math.floor(now / 1000) * 1000;
}
