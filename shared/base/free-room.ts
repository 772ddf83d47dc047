import { type StatsFs, statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';

/** Bytes of the disk that documents must leave free for the store, which needs them for sign-ins and removals. */
export const LEAST_ROOM = 8 * 1024 * 1024;

/**
 * Returns the bytes that are free for this user on the disk of a path. If the system does not say, it returns
 * Infinity, and a write fails if the disk is full.
 */
export function freeRoom(path: string): number {
  try {
    return roomOf(statfsSync(path));
  } catch {
    return Infinity;
  }
}

/** Returns the same without blocking, for a disk that may be slow. */
export const freeRoomLater = (path: string): Promise<number> =>
  statfs(path).then(roomOf, () => Infinity);

/** Some file systems do not report these numbers. */
const roomOf = ({ bavail, bsize, blocks }: StatsFs): number =>
  blocks === 0 ? Infinity : bavail * bsize;
