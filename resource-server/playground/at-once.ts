/** Exchanges that a process has under way at a time. */
export const AT_ONCE = 2;
