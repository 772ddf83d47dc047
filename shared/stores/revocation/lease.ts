/**
 * Returns the milliseconds after which no follower trusts an answer of this lease, and after which a process that wrote
 * nothing has no followers. The margin is for a process that has not written just before its answer (`FRESH`), and for
 * clocks of different speed.
 */
export const outlasted = (lease: number): number => lease * 1.25;

/** Returns the milliseconds for which an answer may be trusted: the follower's clock may be slower by a tenth. */
export const trustedFor = (lease: number): number => lease * 1.1;

/** The part of a lease for which a process may answer followers after it has written its row. */
export const FRESH = 1 / 8;
