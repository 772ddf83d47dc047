import { type StatsFs, statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';

/** Bytes that the files of documents leave to the store, which needs them for sign-ins and removals. */
export const LEAST_ROOM = 8 * 1024 * 1024;

/** Bytes that are free for this user on the disk of a path. If the system does not say, a write finds out. */
export function freeRoom(path: string): number {
  try {
    return roomOf(statfsSync(path));
  } catch {
    return Infinity;
  }
}

/** The same for a disk that may take its time. */
export const freeRoomLater = (path: string): Promise<number> =>
  statfs(path).then(roomOf, () => Infinity);

/** Some file systems have no such numbers. */
const roomOf = ({ bavail, bsize, blocks }: StatsFs): number =>
  blocks === 0 ? Infinity : bavail * bsize;
