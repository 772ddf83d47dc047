import { randomBytes } from 'node:crypto';

/** Randomness is an argument: a function that returns so many unpredictable bytes. */
export type Random = (bytes: number) => Buffer;

/** Bytes that are generated at once: a system call costs as much for all these as for sixteen. */
const POOL = 8192;

let pool = Buffer.alloc(0);
/** The position of the first unused byte in the pool. */
let next = 0;

export const systemRandom: Random = (bytes) => {
  if (bytes > POOL / 64) return randomBytes(bytes);
  if (pool.length - next < bytes) [pool, next] = [randomBytes(POOL), 0];
  const given = Buffer.allocUnsafe(bytes);
  for (let index = 0; index < bytes; index += 1) {
    given[index] = pool[next] ?? 0;
    pool[next++] = 0; // a byte that was given out cannot be read here later
  }
  return given;
};

/** Returns an identifier of 128 random bits that is safe in URLs, file names and header fields. */
export function randomId(random: Random): string {
  return random(16).toString('base64url');
}
