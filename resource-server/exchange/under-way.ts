import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import { Bag, type Placed } from '#shared/base/bag.ts';
import { endedMeanwhile } from '#shared/http/answer.ts';
import { JUDGED_FOR, type Standing, type Who } from '#shared/auth/standing/standing.ts';
import type { Ending } from '../forwarding/sink.ts';
import { setInterval } from '#shared/base/safe-timers.ts';

/** Milliseconds between sweeps. An exchange that is still open at its second sweep is watched. */
const SWEEP = 500;

/**
 * Authenticates the client again before a change is committed. Throws or rejects with HttpError 403 or
 * `StoreUnavailable`.
 */
export type JudgeAgain = () => Awaitable<void>;

/** As `JudgeAgain`. `since`: when the client was authenticated, or before, in milliseconds of the monotonic clock. */
export type JudgeLate = (who: Who, since: number) => Awaitable<void>;

export const createJudgeLate =
  (standing: Pick<Standing, 'holds'>, clock: Pick<Clock, 'monotonic'>): JudgeLate =>
  (who, since) => {
    if (clock.monotonic() - since < JUDGED_FOR) return undefined;
    return standing.holds(who).then((holds) => {
      if (!holds) throw endedMeanwhile();
    });
  };

/**
 * Watches a long exchange until it closes, and calls `end` once the credentials that admitted its client are revoked.
 * Most exchanges are over before the watch begins.
 */
export type UnderWay = (who: Who, exchange: Ending, end: (reason: string) => void) => JudgeAgain;

interface Young extends Placed {
  readonly sweep: number;
  readonly grow: () => void;
}

export function createUnderWay(
  standing: Pick<Standing, 'watch' | 'holds'>,
  clock: Pick<Clock, 'monotonic'>,
): UnderWay {
  const judgeLate = createJudgeLate(standing, clock);
  /** Exchanges that are not watched yet. */
  const young = new Bag<Young>();
  let sweeps = 0;
  let timer: NodeJS.Timeout | undefined;

  function sweep(): void {
    sweeps += 1;
    for (const one of young.toArray()) {
      if (sweeps - one.sweep < 2) continue;
      young.delete(one);
      one.grow();
    }
    if (young.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return (who, exchange, end) => {
    const began = clock.monotonic();
    let stop = () => {};
    const one: Young = {
      place: -1,
      sweep: sweeps,
      grow: () => (stop = standing.watch(who, 'revoked', end)),
    };
    if (!exchange.destroyed) {
      young.add(one);
      timer ??= setInterval(sweep, SWEEP).unref();
      exchange.once('close', () => {
        young.delete(one);
        stop();
      });
    }
    return () => judgeLate(who, began);
  };
}
