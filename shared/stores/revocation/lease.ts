/**
 * Milliseconds after which nobody trusts what was told under a lease of so many, and a process that wrote nothing
 * meanwhile has no followers. The margin is for a process that tells without having written just before
 * (`FRESH`), and for clocks that do not run alike.
 */
export const outlasted = (lease: number): number => lease * 1.25;

/** Parts of a lease for which a process may tell followers something after it wrote its row. */
export const FRESH = 1 / 8;
