import type { Clock } from '#shared/base/clock.ts';

/** Milliseconds by which the wall clock may move against the other between two looks: it is slewed. */
const TOLERANCE = 5_000;
/** Milliseconds; no proof, nonce or assertion, which are remembered without a margin, is good for longer. */
const DOUBT = 2 * 3_600_000;

/**
 * Tells whether the wall clock may say what has expired: not for two hours after it jumped. Set ahead
 * and right again, it would have what was used deleted while it is still good.
 */
export function steadiness(clock: Clock): () => boolean {
  const offset = () => clock.now() - clock.monotonic();
  let known = offset();
  let jumped = -Infinity;
  return () => {
    const found = offset();
    if (Math.abs(found - known) > TOLERANCE) jumped = clock.monotonic();
    known = found;
    return clock.monotonic() - jumped >= DOUBT;
  };
}
