/**
 * Milliseconds by which a row may be earlier than one before it without being late: several processes write, and a clock is
 * put right now and then.
 */
export const SLACK = 60_000;

/** The key of the index that finds late rows. */
export const LATE = 'late';
