import { constants } from 'node:os';

/** Error numbers instead of names, since libuv has no name for EDQUOT. */
const OUT_OF_ROOM: ReadonlySet<number | undefined> = new Set([
  -constants.errno.ENOSPC,
  -constants.errno.EDQUOT,
]);

/** True if a system call failed because the disk is full, or a quota of this user is exhausted. */
export const isOutOfRoom = (error: unknown): boolean =>
  OUT_OF_ROOM.has((error as NodeJS.ErrnoException).errno);
