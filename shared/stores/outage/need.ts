/** For what a store, or a server, is asked whether it is ready: to read, or all of its work. */
export type Need = 'reading' | 'all';
