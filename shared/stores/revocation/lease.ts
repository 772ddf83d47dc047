/**
 * Returns the milliseconds after which nobody trusts an answer that was given under this lease, and after which a
 * process that wrote nothing has no followers. The margin is for a process that answers without having written just
 * before (`FRESH`), and for clocks that do not run alike.
 */
export const outlasted = (lease: number): number => lease * 1.25;

/**
 * Returns the milliseconds for which a process takes a follower to trust an answer, since the request came: the clock of
 * the follower may run slower than that of the process, by a tenth of a lease.
 */
export const trustedFor = (lease: number): number => lease * 1.1;

/** Parts of a lease for which a process may tell followers something after it wrote its row. */
export const FRESH = 1 / 8;
