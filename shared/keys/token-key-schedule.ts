import type { StoredTokenKey } from '#shared/stores/token-keys.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';

export type TokenKeyState = 'published' | 'issuing' | 'retiring' | 'retired';

/** Rotations within an overlap, at most. */
export const MOST_ROTATIONS = 20;
/** Keys of a type that are not retired, at most: those of an overlap, the one that issues and the next. */
export const MOST_LIVE = MOST_ROTATIONS + 2;

/** `privateTokens` of the configuration, in seconds. */
export interface TokenKeyTimes {
  /** From one key of a type to the next. */
  readonly rotation: number;
  /** A key is still good for so long when the next one is there. */
  readonly overlap: number;
  /** The next one is published so long before it issues. */
  readonly maxAge: number;
}

export interface ScheduledTokenKey {
  readonly key: StoredTokenKey;
  /**
   * `published`: in the directory, issues nothing yet. `issuing`: the one that clients take.
   * `retiring`: in the directory behind it, issues and verifies still. `retired`: no token of it is good.
   */
  readonly state: TokenKeyState;
  /** Milliseconds since the epoch: it is retired from then on, or earlier when a rotation comes early. */
  readonly until: number;
}

/**
 * Which key does what at `now` follows from the rows alone, so that all processes agree without
 * talking. Nothing of a key is good from its `until` on, or earlier if its successor came early. `epoch`:
 * of the store's memory; one that was emptied or restored has forgotten what was spent, so that keys of
 * another are retired. `keys`: in the order in which they were added.
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
    const until = Math.min(key.until, (successor?.notBefore ?? Infinity) + overlap * 1000);
    if (key.epoch !== epoch || key.sealed === undefined || until <= now) {
      return { key, state: 'retired', until };
    }
    if (key.notBefore > now) return { key, state: 'published', until };
    const isNewest = successor === undefined || successor.notBefore > now;
    return { key, state: isNewest ? 'issuing' : 'retiring', until };
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
