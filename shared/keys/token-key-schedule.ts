import type { StoredTokenKey } from '#shared/stores/keys/token-keys.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';
import { type KeyState, keyState } from './key-state.ts';

/** Rotations within an overlap, at most. */
export const MOST_ROTATIONS = 20;
/** Keys of a type that are not retired, at most: those of an overlap, the one that issues and the next. */
export const MOST_LIVE = MOST_ROTATIONS + 2;

/** `privateTokens` of the configuration, in seconds. */
export interface TokenKeyTimes {
  /** Time from one key of a type to the next. */
  readonly rotation: number;
  /** A key is still good for so long when the next one is there. */
  readonly overlap: number;
  /** The next one is published so long before it issues. */
  readonly maxAge: number;
}

export interface ScheduledTokenKey {
  readonly key: StoredTokenKey;
  /** `issuing`: the key that clients take. A `retiring` key stands behind it, and still issues and verifies. */
  readonly state: KeyState<'issuing'>;
  /** Milliseconds since the epoch: it is retired from then on, or earlier when a rotation comes early. */
  readonly until: number;
}

/**
 * A key lives until its `until`, or less if its successor came early. `epoch`: of the store's memory; one that
 * was emptied or restored has forgotten what was spent, so that keys of another are retired. `keys`: in the
 * order in which they were added.
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
 * When the key that has to be made at `now` begins to issue, in milliseconds since the epoch; undefined
 * when none is due. `ofType`: all keys of a type, in the order of the schedule.
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

/** The second that `now` is in; both in milliseconds since the epoch. */
export function thisSecond(now: number): number {
  return Math.floor(now / 1000) * 1000;
}
