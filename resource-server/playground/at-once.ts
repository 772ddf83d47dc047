/** The most exchanges that a process performs at a time. */
export const AT_ONCE = 2;
