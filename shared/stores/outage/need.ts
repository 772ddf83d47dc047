/** Whether a store or server must be able to read only, or to do all of its work. */
export type Need = 'reading' | 'all';
