/**
 * Milliseconds by which a row may be earlier than one before it without being late: several processes write, and a clock is
 * put right now and then.
 */
export const SLACK = 60_000;

/** The key of the index that finds late rows. */
export const LATE = 'late';

/** The key that finds the first row of each link whose late rows are marked: earlier versions marked none. */
export const MARKED = 'late rows are marked';
