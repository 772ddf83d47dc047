/**
 * Returns the milliseconds after which nobody trusts an answer that was given under this lease, and after which a
 * process that wrote nothing has no followers. The margin is for a process that answers without having written just
 * before (`FRESH`), and for clocks that do not run alike.
 */
export const outlasted = (lease: number): number => lease * 1.25;

/** Parts of a lease for which a process may tell followers something after it wrote its row. */
export const FRESH = 1 / 8;
