/**
 * Milliseconds by which a row may be earlier than a preceding row without being late: several processes write, and
 * clocks are corrected from time to time.
 */
export const SLACK = 60_000;

/** The key of the index that finds late rows. */
export const LATE = 'late';
