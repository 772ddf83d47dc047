/** SQLITE_FULL, and the errors of the WAL's index and of any write (SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_WRITE). */
const FULL: ReadonlySet<unknown> = new Set([13, 4874, 778]);

export function isFull(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && FULL.has(error.errcode);
}
